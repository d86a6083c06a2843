// Files, exports and dependencies that nothing uses: knip.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bin, home, tool } from "./tree.mjs";

async function check(root) {
  const run = tool(bin("knip"), ["--no-progress", "--reporter", "json"], root);
  if (!run.stdout.trim().startsWith("{")) throw new Error(run.output);
  const problems = JSON.parse(run.stdout).issues.flatMap(({ file, ...kinds }) =>
    Object.entries(kinds).flatMap(([kind, found]) =>
      Array.isArray(found) ? found.flat().map(({ name, line }) => `${file}${line ? `:${line}` : ""}: ${kind}: ${name}`) : [],
    ),
  );
  return { problems, seen: "the workspace" };
}

const config = JSON.parse(readFileSync(join(home, "knip.json"), "utf8"));

export const unused = {
  name: "unused",
  check,
  sound: {
    "package.json": JSON.stringify({ name: "sound", private: true, workspaces: ["packages/*"] }),
    "knip.json": JSON.stringify({ ...config, workspaces: { "packages/*": config.workspaces["packages/*"] } }),
    "packages/x/package.json": JSON.stringify({ name: "x", type: "module", exports: { ".": { "@loopwright/source": "./src/index.ts" } } }),
    "packages/x/src/index.ts": 'export { used } from "./used.ts";\n',
    "packages/x/src/used.ts": "export const used = 1;\n",
  },
  planted: [
    {
      title: "a file nobody imports",
      files: { "packages/x/src/alone.ts": "export const alone = 1;\n" },
      expects: /packages\/x\/src\/alone\.ts: files/,
    },
    {
      title: "an export nobody imports",
      files: { "packages/x/src/used.ts": "export const used = 1;\nexport const spare = 2;\n" },
      expects: /packages\/x\/src\/used\.ts:2: exports: spare/,
    },
    {
      title: "a dependency nobody imports",
      files: {
        "packages/x/package.json": JSON.stringify({
          name: "x",
          type: "module",
          exports: { ".": { "@loopwright/source": "./src/index.ts" } },
          dependencies: { "left-over": "1.0.0" },
        }),
      },
      expects: /packages\/x\/package\.json.*dependencies: left-over/,
    },
  ],
};
