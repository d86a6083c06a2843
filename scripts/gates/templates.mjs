// Packages made from templates as a user makes them, outside the workspace: npm installs them from the packed tarballs, and they typecheck, pass their
// kits, build and load.
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { dependenciesOf } from "../install-unreleased.mjs";
import { installShared } from "./shared-install.mjs";
import { tarballs } from "./tarballs.mjs";
import { readJson, tool } from "./tree.mjs";

const GENERATOR = "scripts/new-package.mjs";

/** The commands of the folder, in order; the first that fails ends it. */
function problemsOf(root, kind, packed) {
  const parent = mkdtempSync(join(tmpdir(), "loopwright-template-"));
  const folder = join(parent, "made");
  try {
    const making = tool(process.execPath, [join(root, GENERATOR), kind, "zenith", folder], root);
    if (making.code !== 0) return [`${kind}: ${making.output}`];
    const environment = { ...process.env, NO_COLOR: "1", NODE_OPTIONS: "" };
    const names = dependenciesOf(folder);
    const own = packed.filter(({ name }) => names.includes(name));
    for (const { tarball } of own) copyFileSync(tarball, join(folder, basename(tarball)));
    const paths = own.map(({ tarball }) => `./${basename(tarball)}`);
    const installing = installShared(folder, paths, environment);
    if (installing.code !== 0) return [`${kind}: npm could not install it: ${installing.output.slice(-1_500)}`];
    const commands = [
      ["npm", "run", "--silent", "typecheck"],
      ["npm", "test", "--silent"],
      ["npm", "run", "--silent", "build"],
      [process.execPath, "--input-type=module", "--eval", `await import(${JSON.stringify(readJson(join(folder, "package.json")).name)})`],
    ];
    for (const [command, ...args] of commands) {
      const { code, output } = tool(command, args, folder, { env: environment, timeout: 300_000 });
      if (code !== 0) return [`${kind}: \`${basename(command)} ${args[0]} ${args.at(-1)}\` ended with ${code}: ${output.slice(-1_500)}`];
    }
    return [];
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

async function check(root) {
  const kinds = existsSync(join(root, "templates")) ? readdirSync(join(root, "templates")) : [];
  const packed = existsSync(join(root, "packages")) ? tarballs(root) : [];
  return { problems: kinds.flatMap((kind) => problemsOf(root, kind, packed)), seen: `${kinds.length} templates` };
}

/** A generator that copies one package, which needs nothing. */
const generator = `
import { cpSync } from "node:fs";
const [kind, , folder] = process.argv.slice(2);
cpSync(new URL(\`../templates/\${kind}\`, import.meta.url), folder, { recursive: true });
`;
const scripts = { typecheck: "node index.js", test: "node index.js", build: "node index.js" };
const template = (kind, code, more = {}) => ({
  [`templates/${kind}/package.json`]: JSON.stringify({ name: `made-${kind}`, type: "module", exports: "./index.js", scripts, ...more }),
  [`templates/${kind}/index.js`]: code,
});

export const templates = {
  name: "templates",
  needsBuild: true,
  packs: true,
  check,
  sound: { [GENERATOR]: generator, ...template("store", "export const a = 1;\n") },
  planted: [
    {
      title: "a template that does not typecheck",
      files: template("provider", "", { scripts: { ...scripts, typecheck: "exit 3" } }),
      expects: /provider: `npm run typecheck` ended with 3/,
    },
    {
      title: "a template whose tests fail",
      files: template("channel", "", { scripts: { ...scripts, test: "exit 4" } }),
      expects: /channel: `npm test --silent` ended with 4/,
    },
    {
      title: "a template whose build does not load",
      files: template("queue", "", { exports: "./missing.js" }),
      expects: /queue: `node --input-type=module .*` ended with 1/,
    },
  ],
};
