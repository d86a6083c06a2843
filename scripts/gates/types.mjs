// Every package, app and folder with a tsconfig is type-checked, on the declarations of its siblings as they are built: on their sources each of them
// would be checked again in every package that imports it, which took five times as long.
import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { bin, filesBelow, home, readJson, toolBeside } from "./tree.mjs";

/** What a package imports of itself by condition has no declarations in the build: such a package is checked on sources. */
function conditionsOf(root, project) {
  const manifest = join(root, dirname(project), "package.json");
  return existsSync(manifest) && readJson(manifest).imports ? [] : ["--customConditions", ""];
}

/**
 * One checker for each process: several in one check many types once each, which takes half as much CPU time again. The processes live for a second or
 * two, so their memory is collected seldom.
 */
const ECONOMY = ["--singleThreaded"];
const environment = { ...process.env, GOGC: "400" };

async function problemsOf(root, project) {
  const args = ["-p", project, "--pretty", "false", ...ECONOMY, ...conditionsOf(root, project)];
  const run = await toolBeside(bin("tsc"), args, root, { env: environment });
  return run.code === 0 ? [] : run.output.split("\n").map((line) => `${project}: ${line}`);
}

async function check(root) {
  const projects = ["packages", "apps", "bench", "examples"]
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => filesBelow(root, folder))
    .filter((file) => /(^|\/)tsconfig(\.test)?\.json$/.test(file));
  const problems = [];
  const waiting = [...projects];
  const lane = async () => {
    for (let project = waiting.shift(); project; project = waiting.shift()) problems.push(...(await problemsOf(root, project)));
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
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
