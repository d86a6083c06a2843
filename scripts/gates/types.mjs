// Every package, app and folder with a tsconfig is type-checked, on the declarations of its siblings as they are built: on their sources each of them
// would be checked again in every package that imports it, which took five times as long.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bin, filesBelow, home, readJson, tool } from "./tree.mjs";

/** What a package imports of itself by condition has no declarations in the build: such a package is checked on sources. */
function conditionsOf(root, project) {
  const manifest = join(root, dirname(project), "package.json");
  return existsSync(manifest) && readJson(manifest).imports ? [] : ["--customConditions", ""];
}

async function check(root) {
  const projects = ["packages", "apps", "bench", "examples"]
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => filesBelow(root, folder))
    .filter((file) => /(^|\/)tsconfig(\.test)?\.json$/.test(file));
  const problems = projects.flatMap((project) => {
    const run = tool(bin("tsc"), ["-p", project, "--pretty", "false", ...conditionsOf(root, project)], root);
    return run.code === 0 ? [] : run.output.split("\n").map((line) => `${project}: ${line}`);
  });
  return { problems, seen: `${projects.length} projects` };
}

const tsconfig = (more) =>
  JSON.stringify({ extends: "../../tsconfig.base.json", include: ["src"], compilerOptions: { types: [], ...more } });

export const types = {
  name: "types",
  needsBuild: true,
  check,
  sound: {
    "tsconfig.base.json": readFileSync(join(home, "tsconfig.base.json"), "utf8"),
    "packages/x/package.json": '{ "type": "module" }\n',
    "packages/x/tsconfig.json": tsconfig({}),
    "packages/x/src/fine.ts": "export const fine: number = 1;\n",
  },
  planted: [
    {
      title: "a wrong type",
      files: { "packages/x/src/wrong.ts": 'export const wrong: number = "1";\n' },
      expects: /src\/wrong\.ts.*TS2322/,
    },
    {
      title: "an index that may be missing",
      files: { "packages/x/src/index.ts": "export const first = (list: readonly string[]): string => list[0];\n" },
      expects: /src\/index\.ts.*TS2322/,
    },
    {
      title: "a Node.js global where no Node.js types are",
      files: { "packages/x/src/platform.ts": "export const pid: number = process.pid;\n" },
      expects: /src\/platform\.ts.*TS2591/,
    },
    {
      title: "an enum",
      files: { "packages/x/src/enum.ts": "export enum Colour {\n  Red,\n}\n" },
      expects: /src\/enum\.ts.*TS1294/,
    },
  ],
};
