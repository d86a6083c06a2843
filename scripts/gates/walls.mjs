// Which package, and which folder of core, may import which: dependency-cruiser on .dependency-cruiser.cjs. No cycle between folders (folders.mjs).
import { existsSync } from "node:fs";
import { join } from "node:path";
import config from "../../.dependency-cruiser.cjs";
import { EXCEPTIONS, folderCycles } from "./folders.mjs";
import { bin, home, link, sources, tool } from "./tree.mjs";

const CONFIG = ".dependency-cruiser.cjs";

async function check(root) {
  const folders = ["packages", "apps", "bench"].filter((folder) => existsSync(join(root, folder)));
  const run = tool(bin("depcruise"), [...folders, "--config", join(home, CONFIG), "--output-type", "json"], root);
  if (!run.stdout.startsWith("{")) throw new Error(run.output);
  const { modules, summary } = JSON.parse(run.stdout);
  const seen = new Set(modules.map((module) => module.source));
  const missed = sources(root).filter((file) => !seen.has(file));
  const broken = summary.violations.map(({ rule, from, to }) => `${from}: ${rule.name}: imports ${to}`);
  const unproved = config.forbidden.filter(({ name }) => !walls.planted.some(({ title }) => title.startsWith(`${name}:`)));
  const problems = [
    ...broken,
    ...folderCycles(root, modules, sources(root)),
    ...missed.map((file) => `${file}: was not looked at`),
    ...unproved.map(({ name }) => `${CONFIG}: ${name} has no planted violation`),
  ];
  if (seen.size === 0) problems.push("no module was looked at");
  return { problems, seen: `${seen.size} modules` };
}

const doors = (...names) =>
  Object.fromEntries(
    names.map((name) => [
      name === "index" ? "." : `./${name}`,
      { "@loopwright/source": `./src/${name === "index" ? name : `${name}/index`}.ts` },
    ]),
  );

function pack(name, { exports = doors("index"), dependencies = {}, siblings = [] } = {}) {
  const manifest = { name: `@loopwright/${name}`, version: "0.0.0", type: "module", exports, dependencies };
  for (const sibling of siblings) manifest.dependencies[`@loopwright/${sibling}`] = "*";
  return {
    [`packages/${name}/package.json`]: JSON.stringify(manifest),
    [`packages/${name}/src/index.ts`]: `export const name = ${JSON.stringify(name)};\n`,
    ...Object.fromEntries(siblings.map((sibling) => [`packages/${name}/node_modules/@loopwright/${sibling}`, link(`../../../${sibling}`)])),
  };
}

const room = (path, text = "export const a = 1;\n") => ({ [`packages/core/src/${path}`]: text });
const using = (...paths) =>
  paths.map((path, index) => `import { a as a${index} } from ${JSON.stringify(path)};\nexport const b${index} = a${index};\n`).join("");
const planted = (rule, path, text) => ({
  title: `${rule}: ${path}`,
  files: { [path]: text },
  expects: new RegExp(`^${path.replaceAll(".", "\\.")}: ${rule}:`),
});

export const walls = {
  name: "walls",
  check,
  sound: {
    "package.json": JSON.stringify({ name: "sound", private: true }),
    "node_modules/left-over/package.json": JSON.stringify({ name: "left-over", version: "1.0.0", main: "index.js" }),
    "node_modules/left-over/index.js": "",
    ...pack("core", { exports: doors("index", "ports", "memory", "stores", "internals", "protocol") }),
    ...pack("provider-kit", { siblings: ["core"] }),
    ...pack("providers-x", { siblings: ["core", "provider-kit", "providers-y"] }),
    ...pack("providers-y"),
    ...pack("providers-scripted", { siblings: ["core", "provider-kit"] }),
    ...pack("prices", { siblings: ["core", "provider-kit", "testing"] }),
    ...pack("agents-x", { siblings: ["tools-x", "prices"] }),
    ...pack("tools-x"),
    ...pack("tools-registry"),
    ...pack("tools-craft", { siblings: ["tools-registry", "prices"] }),
    ...pack("tools-cli"),
    ...pack("skills", { siblings: ["tools-cli", "prices"] }),
    ...pack("chat-x", { siblings: ["client", "chat-kit", "prices", "server"] }),
    ...pack("chat-kit", { siblings: ["client"] }),
    ...pack("webhooks", { siblings: ["client", "prices"] }),
    ...pack("client", { siblings: ["core"] }),
    ...pack("host", { siblings: ["core", "prices"] }),
    ...pack("server", { siblings: ["host", "client", "prices"] }),
    ...pack("simulator", { siblings: ["host", "replay", "prices"] }),
    ...pack("replay", { siblings: ["core"] }),
    ...pack("embed", { siblings: ["server", "host", "prices"] }),
    ...pack("protocol-openai", { siblings: ["server", "host", "client", "prices"] }),
    ...pack("protocol-a2a", { siblings: ["server", "client", "protocol-ag-ui"] }),
    ...pack("protocol-ag-ui", { siblings: ["server", "client", "protocol-ai-sdk"] }),
    ...pack("protocol-mcp", { siblings: ["server", "client", "protocol-openai"] }),
    ...pack("protocol-ai-sdk", { siblings: ["server", "client", "protocol-openai"] }),
    ...pack("auth", { siblings: ["server", "host", "prices"] }),
    ...pack("channel-redis", { siblings: ["prices"] }),
    ...room("message/message.ts"),
    ...room("errors.ts"),
    ...room("loop/fold.ts", using("../message/message.ts", "../errors.ts")),
    ...room("loop/fact.ts", "export type a = 1;\nexport const c = 1;\n"),
    ...room("ports/clock.ts", 'import type { a } from "../loop/fact.ts";\nexport type Clock = a;\n'),
    ...room("ports/index.ts", 'export type { Clock } from "./clock.ts";\n'),
    ...room("memory/index.ts"),
    ...room("stores/index.ts", using("../message/message.ts")),
    ...room("protocol/index.ts"),
    ...room("internals/index.ts", using("../driver/drive.ts")),
    ...pack("testing", { siblings: ["core"] }),
    "packages/testing/src/kit.ts": 'export { b0 } from "@loopwright/core/internals";\n',
    "packages/core/test/node_modules/@loopwright/testing": link("../../../../testing"),
    "packages/core/test/kits.test.ts": 'export { name } from "@loopwright/testing";\n',
    "packages/prices/src/contract.test.ts": 'export { name } from "@loopwright/testing";\n',
    ...room("driver/drive.ts", using("../message/message.ts")),
    ...room("driver/drive.test.ts", `import { readFileSync } from "node:fs";\n${using("./drive.ts")}`),
    "packages/providers-x/src/x.ts":
      'import { a } from "@loopwright/core/memory";\nimport { name } from "@loopwright/provider-kit";\nexport const b = [a, name];\n',
    "packages/agents-x/src/x.ts": 'export { name } from "@loopwright/tools-x";\n',
    "packages/tools-craft/src/x.ts": 'export { name } from "@loopwright/tools-registry";\n',
    "packages/client/src/x.ts": 'export { a } from "@loopwright/core/protocol";\n',
    "packages/chat-x/src/x.ts": 'export { name } from "@loopwright/client";\n',
    "packages/chat-x/src/y.ts": 'export { name } from "@loopwright/chat-kit";\n',
    "packages/chat-x/test/x.ts": 'export { name } from "@loopwright/server";\n',
    "packages/webhooks/src/x.ts": 'export { name } from "@loopwright/client";\n',
    "packages/server/src/x.ts": 'export { name } from "@loopwright/host";\n',
    "packages/simulator/src/x.ts": 'export { name } from "@loopwright/host";\n',
    "packages/embed/src/x.ts": 'export { name } from "@loopwright/server";\n',
    "packages/protocol-openai/src/x.ts": 'export { name } from "@loopwright/server";\n',
    "packages/protocol-a2a/src/x.ts": 'export { name } from "@loopwright/client";\n',
    "packages/protocol-ag-ui/src/x.ts": 'export { name } from "@loopwright/client";\n',
    "packages/protocol-mcp/src/x.ts": 'export { name } from "@loopwright/client";\n',
    "packages/protocol-ai-sdk/src/x.ts": 'export { name } from "@loopwright/client";\n',
    "packages/auth/src/x.ts": 'export { name } from "@loopwright/server";\n',
    "packages/server/src/x.test.ts": 'export { name } from "@loopwright/client";\n',
    "packages/server/test/x.ts": 'export { name } from "@loopwright/client";\n',
    "apps/web/package.json": JSON.stringify({ name: "@loopwright/web", devDependencies: { "left-over": "*", "@loopwright/client": "*" } }),
    ...Object.fromEntries(
      ["core", "client", "server", "prices"].map((name) => [
        `apps/web/node_modules/@loopwright/${name}`,
        link(`../../../../packages/${name}`),
      ]),
    ),
    "apps/web/src/main.tsx":
      'import "left-over";\nimport { name } from "@loopwright/client";\nimport { a } from "@loopwright/core/protocol";\nexport const main = [name, a];\n',
    "apps/web/src/main.test.ts": 'export { name } from "@loopwright/server";\n',
    "apps/web/test/page.ts": 'import "left-over";\nexport { name } from "@loopwright/server";\n',
    "packages/tools-x/src/index.ts": 'export { a as name } from "./upper/one.ts";\n',
    "packages/tools-x/src/upper/one.ts":
      'import { a as b } from "../lower/one.ts";\nimport { base } from "../base.ts";\nexport const a = [b, base];\n',
    "packages/tools-x/src/lower/one.ts": 'export { base as a } from "../base.ts";\n',
    "packages/tools-x/src/base.ts": "export const base = 1;\n",
    "packages/tools-x/src/old/one.ts": 'export { a } from "../older/one.ts";\n',
    "packages/tools-x/src/older/one.ts": "export const a = 1;\n",
    "packages/tools-x/src/older/two.ts": 'export { a } from "../old/one.ts";\n',
    [EXCEPTIONS]: JSON.stringify({ cycles: { "packages/tools-x/src": ["older/ > old/"] } }),
    "node_modules/stray/package.json": JSON.stringify({ name: "stray", version: "1.0.0", main: "index.js" }),
    "node_modules/stray/index.js": "",
    "apps/cli/package.json": JSON.stringify({ name: "loopwright", dependencies: { "@loopwright/core": "*" } }),
    "apps/cli/node_modules/@loopwright/core": link("../../../../packages/core"),
    "apps/cli/src/main.ts": 'import { name } from "@loopwright/core";\nexport const main = name;\n',
  },
  planted: [
    planted("no-cycles", "packages/core/src/driver/one.ts", 'import type { b0 } from "./two.ts";\nexport const a: typeof b0 = 1;\n'),
    {
      title: "the other half of the cycle",
      files: room("driver/two.ts", using("./one.ts")),
      expects: /driver\/one\.ts: no-cycles: imports .*two\.ts/,
    },
    {
      title: "two folders that import each other, no two files of them do",
      files: {
        "packages/prices/src/left/one.ts": 'export { a } from "../right/one.ts";\n',
        "packages/prices/src/left/two.ts": "export const a = 1;\n",
        "packages/prices/src/right/one.ts": "export const a = 1;\n",
        "packages/prices/src/right/two.ts": 'import type { a } from "../left/two.ts";\nexport type B = typeof a;\n',
      },
      expects: /^packages\/prices\/src: its folders are in a cycle: left\/ > right\/ > left\/ \(.*left\/one\.ts imports .*right\/one\.ts; /,
    },
    {
      title: "a cycle of three folders, one of them by a file deep below it",
      files: {
        "packages/prices/src/deep/x/one.ts": 'export { a } from "../y/one.ts";\n',
        "packages/prices/src/deep/y/one.ts": 'export { a } from "../z/w/one.ts";\n',
        "packages/prices/src/deep/z/w/one.ts": "export const a = 1;\n",
        "packages/prices/src/deep/z/two.ts": 'export { b } from "../x/two.ts";\n',
        "packages/prices/src/deep/x/two.ts": "export const b = 1;\n",
      },
      expects: /^packages\/prices\/src\/deep: its folders are in a cycle: x\/ > y\/ > z\/ > x\//,
    },
    {
      title: "a folder that imports a file above it, which imports the folder",
      files: {
        "apps/cli/src/above.ts": 'export { b } from "./below/one.ts";\n',
        "apps/cli/src/other.ts": "export const a = 1;\n",
        "apps/cli/src/below/one.ts": "export const b = 1;\n",
        "apps/cli/src/below/two.ts": 'export { b } from "../above.ts";\n',
      },
      expects: /^apps\/cli\/src: its folders are in a cycle: below\/ > above\.ts > below\//,
    },
    {
      title: "exceptions that are over: an import that is gone, a folder that is gone",
      files: {
        [EXCEPTIONS]: JSON.stringify({
          cycles: { "packages/tools-x/src": ["older/ > old/", "lower/ > upper/"], "packages/gone/src": ["a/ > b/"] },
        }),
      },
      expects: /^scripts\/gates\/folder-exceptions\.json: packages\/tools-x\/src: lower\/ > upper\/ is not needed/,
    },
    { title: "the other of them", files: {}, expects: /^scripts\/gates\/folder-exceptions\.json: packages\/gone\/src is not needed/ },
    planted("core-imports-no-sibling", "packages/core/src/driver/sibling.ts", 'export { name } from "../../../prices/src/index.ts";\n'),
    planted("packages-see-core-only", "packages/prices/src/sibling.ts", 'export { name } from "@loopwright/provider-kit";\n'),
    planted("packages-see-core-only", "packages/providers-scripted/src/sibling.ts", 'export { name } from "@loopwright/provider-kit";\n'),
    planted("providers-exception", "packages/providers-x/src/sibling.ts", 'export { name } from "@loopwright/providers-y";\n'),
    planted("agents-exception", "packages/agents-x/src/sibling.ts", 'export { name } from "@loopwright/prices";\n'),
    planted("tools-exception", "packages/tools-craft/src/sibling.ts", 'export { name } from "@loopwright/prices";\n'),
    planted("skills-exception", "packages/skills/src/sibling.ts", 'export { name } from "@loopwright/prices";\n'),
    planted("chat-exception", "packages/chat-x/src/sibling.ts", 'export { name } from "@loopwright/prices";\n'),
    planted("chat-exception", "packages/chat-x/src/server.ts", 'export { name } from "@loopwright/server";\n'),
    planted("chat-tests-exception", "packages/chat-x/test/sibling.ts", 'export { name } from "@loopwright/prices";\n'),
    planted("webhooks-exception", "packages/webhooks/src/sibling.ts", 'export { name } from "@loopwright/prices";\n'),
    planted("packages-see-core-only", "packages/host/src/sibling.ts", 'export { name } from "@loopwright/prices";\n'),
    planted("server-exception", "packages/server/src/sibling.ts", 'export { name } from "@loopwright/client";\n'),
    planted("simulator-exception", "packages/simulator/src/sibling.ts", 'export { name } from "@loopwright/prices";\n'),
    planted("protocol-exception", "packages/protocol-openai/src/sibling.ts", 'export { name } from "@loopwright/prices";\n'),
    planted("protocol-exception", "packages/protocol-a2a/src/sibling.ts", 'export { name } from "@loopwright/protocol-ag-ui";\n'),
    planted("protocol-exception", "packages/protocol-ag-ui/src/sibling.ts", 'export { name } from "@loopwright/protocol-ai-sdk";\n'),
    planted("protocol-exception", "packages/protocol-mcp/src/sibling.ts", 'export { name } from "@loopwright/protocol-openai";\n'),
    planted("protocol-exception", "packages/protocol-ai-sdk/src/sibling.ts", 'export { name } from "@loopwright/protocol-openai";\n'),
    planted("embed-exception", "packages/embed/src/sibling.ts", 'export { name } from "@loopwright/prices";\n'),
    planted("auth-exception", "packages/auth/src/sibling.ts", 'export { name } from "@loopwright/prices";\n'),
    planted("user-exception", "packages/user-settings/src/sibling.ts", 'export { name } from "../../prices/src/index.ts";\n'),
    planted("store-exception", "packages/store-sealed/src/sibling.ts", 'export { name } from "../../prices/src/index.ts";\n'),
    planted("settings-tests-exception", "packages/user-settings/test/sibling.ts", 'export { name } from "../../prices/src/index.ts";\n'),
    planted("backend-exception", "packages/backend-redis/src/sibling.ts", 'export { name } from "../../prices/src/index.ts";\n'),
    planted("fault-tests-exception", "packages/channel-redis/test/sibling.ts", 'export { name } from "@loopwright/prices";\n'),
    planted("secrets-tests-exception", "packages/secrets/test/sibling.ts", 'export { name } from "../../prices/src/index.ts";\n'),
    planted("guardrails-tests-exception", "packages/guardrails/test/sibling.ts", 'export { name } from "../../prices/src/index.ts";\n'),
    planted("simulator-tests-exception", "packages/simulator/test/sibling.ts", 'export { name } from "@loopwright/prices";\n'),
    planted("sealed-tests-exception", "packages/store-sealed/test/sibling.ts", 'export { name } from "../../prices/src/index.ts";\n'),
    planted("server-tests-exception", "packages/server/test/sibling.ts", 'export { name } from "@loopwright/prices";\n'),
    planted("telemetry-tests-exception", "packages/telemetry/test/sibling.ts", 'export { name } from "../../prices/src/index.ts";\n'),
    planted("client-sees-protocol-only", "packages/client/src/core.ts", 'export { name } from "@loopwright/core";\n'),
    planted("page-sees-client-only", "apps/web/src/server.ts", 'export { name } from "@loopwright/server";\n'),
    planted("page-sees-client-only", "apps/web/src/core.ts", 'export { name } from "@loopwright/core";\n'),
    planted("page-tests-exception", "apps/web/test/prices.ts", 'export { name } from "@loopwright/prices";\n'),
    planted("packages-never-import-apps", "packages/prices/src/app.ts", 'export { main } from "../../../apps/cli/src/main.ts";\n'),
    planted("front-door-only", "apps/cli/src/deep.ts", 'export { a } from "../../../packages/core/src/driver/drive.ts";\n'),
    planted("web-standards-only", "packages/core/src/driver/platform.ts", 'export { readFileSync } from "node:fs";\n'),
    planted("web-standards-only", "packages/provider-kit/src/platform.ts", 'export { readFileSync } from "node:fs";\n'),
    planted("web-standards-only", "packages/testing/src/platform.ts", 'export { readFileSync } from "node:fs";\n'),
    planted("web-standards-only", "packages/host/src/platform.ts", 'export { readFileSync } from "node:fs";\n'),
    planted("web-standards-only", "apps/web/src/platform.ts", 'export { readFileSync } from "node:fs";\n'),
    planted("core-has-no-dependency", "packages/core/src/driver/library.ts", 'import "left-over";\nexport const a = 1;\n'),
    planted("libraries-are-declared", "packages/prices/src/library.ts", 'import "left-over";\nexport const a = 1;\n'),
    planted("libraries-are-declared", "apps/cli/src/library.ts", 'import "left-over";\nexport const a = 1;\n'),
    planted("page-libraries-are-declared", "apps/web/src/library.ts", 'import "stray";\nexport const a = 1;\n'),
    planted("everything-resolves", "packages/prices/src/nowhere.ts", 'export { a } from "./not-there.ts";\n'),
    planted("message-imports-nothing", "packages/core/src/message/usage.ts", using("../errors.ts")),
    planted("loop-is-pure", "packages/core/src/loop/plan.ts", using("../memory/index.ts")),
    planted("stores-are-light", "packages/core/src/stores/list.ts", using("../memory/index.ts")),
    planted(
      "ports-know-nouns",
      "packages/core/src/ports/log.ts",
      'import type { a } from "../memory/index.ts";\nexport type Log = typeof a;\n',
    ),
    planted("ports-see-loop-types", "packages/core/src/ports/code.ts", 'export { c } from "../loop/fact.ts";\n'),
    planted("kits-only-in-tests", "packages/prices/src/kit.ts", 'export { name } from "@loopwright/testing";\n'),
    planted("internals-for-kits-only", "packages/prices/src/inside.ts", 'export { b0 } from "@loopwright/core/internals";\n'),
    planted("core-tests-exception", "packages/core/test/sibling.ts", 'export { name } from "../../prices/src/index.ts";\n'),
  ],
};
