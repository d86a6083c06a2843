// Builds the packages of this workspace: `node scripts/build-packages.mjs [--declarations] [<folder> ...]`, all of them when none is named.
//
// One process builds all: a process for each package would load the bundler forty times. No package waits for another one, since nothing that
// is built reads what another build wrote: the code names other packages as external, or takes their sources; declarations are made file by
// file (`isolatedDeclarations`). A package whose inputs did not change is left as it is.
// `--declarations` also writes `.d.ts` files. Programs run without them, so what only runs programs does not wait for them.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { delimiter, dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { declare } from "./emit-declarations.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const stampsFile = join(root, ".turbo", "builds.json");

/** What a package states as its build when it has the common recipe. */
const COMMON = "node ../../scripts/build-packages.mjs --declarations .";
/** What decides the outcome of every build. */
const SHARED = [
  "tsconfig.base.json",
  "tsconfig.web.json",
  "pnpm-lock.yaml",
  "scripts/tsup.preset.ts",
  "scripts/emit-declarations.mjs",
  "scripts/build-packages.mjs",
];

/** Every package with a build. `code` takes sources of other packages in when the package has a recipe of its own. */
function packagesWithBuild() {
  return ["packages", "apps"].flatMap((group) =>
    readdirSync(join(root, group)).flatMap((name) => {
      const folder = join(root, group, name);
      const manifest = existsSync(join(folder, "package.json")) ? JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) : {};
      const script = manifest.scripts?.build;
      if (script === undefined) return [];
      const config = join(folder, "tsup.config.ts");
      return [
        {
          name: manifest.name,
          folder,
          program: script === COMMON ? undefined : script,
          config: existsSync(config) ? config : undefined,
          isDeclared: script === COMMON && manifest.exports !== undefined,
        },
      ];
    }),
  );
}

function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(?:test|test-d)\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** The files that a build of a package reads of its own folder. */
function inputsOf({ folder }) {
  const own = readdirSync(folder).filter((name) => /^(?:package\.json|index\.html|tsconfig.*\.json|.*\.config\.ts)$/.test(name));
  return [...own.map((name) => join(folder, name)), ...filesBelow(join(folder, "src")), ...filesBelow(join(folder, "public"))];
}

function hashOf(files, ...more) {
  const hash = createHash("sha256");
  for (const part of more) hash.update(part);
  for (const file of files.sort()) hash.update(`\0${relative(root, file)}\0`).update(readFileSync(file));
  return hash.digest("hex");
}

/** The fingerprint of each package's build. */
function fingerprints(packages) {
  const shared = hashOf(SHARED.map((file) => join(root, file)));
  const own = new Map(packages.map((one) => [one, hashOf(inputsOf(one), shared)]));
  const everything = createHash("sha256")
    .update([...own.values()].join())
    .digest("hex");
  return new Map(packages.map((one) => [one.name, one.program === undefined && one.config === undefined ? own.get(one) : everything]));
}

function readStamps() {
  try {
    return JSON.parse(readFileSync(stampsFile, "utf8"));
  } catch {
    return {};
  }
}

/** Whole or not at all: a build that is interrupted leaves a file that can be read. */
function keep(stamps) {
  mkdirSync(dirname(stampsFile), { recursive: true });
  writeFileSync(`${stampsFile}.new`, JSON.stringify(stamps));
  renameSync(`${stampsFile}.new`, stampsFile);
}

/** Runs a command in a folder; its output is shown only when it fails. */
function runIn(folder, command) {
  const path = [join(root, "node_modules/.bin"), join(folder, "node_modules/.bin"), process.env.PATH].join(delimiter);
  return new Promise((resolve, reject) => {
    const child = spawn(command, { cwd: folder, shell: true, env: { ...process.env, PATH: path }, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => (output += piece));
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 ? resolve() : reject(new Error(`\`${command}\` fails in ${relative(root, folder)}:\n${output}`)),
    );
  });
}

/** Builds the code of a package in this process, whose current folder the bundler takes for the package. */
async function buildCode({ folder, config }) {
  const [{ build }, { presetOf }] = await Promise.all([import("tsup"), import("./tsup.preset.ts")]);
  process.chdir(folder);
  const options = config === undefined ? presetOf(folder) : (await import(pathToFileURL(config).href)).default;
  await build({ ...options, config: false, silent: true });
}

/** Does some work with a few at a time, in their order. */
async function eachOf(items, atOnce, work) {
  const waiting = [...items];
  const lane = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

async function buildAll(packages, wantsDeclarations) {
  const wanted = fingerprints(packagesWithBuild());
  const stamps = readStamps();
  const isCurrent = ({ name, folder }, part) => stamps[name]?.[part] === wanted.get(name) && existsSync(join(folder, "dist"));
  let hasBuilt = false;
  const built = (one, part) => {
    hasBuilt = true;
    stamps[one.name] = { ...stamps[one.name], [part]: wanted.get(one.name) };
  };
  const code = packages.filter((one) => !isCurrent(one, "code"));
  // A build of the code removes the declarations too.
  for (const { name } of code) delete stamps[name];
  try {
    const programs = eachOf(
      code.filter(({ program }) => program !== undefined),
      1,
      async (one) => {
        await runIn(one.folder, one.program);
        built(one, "code");
      },
    );
    for (const one of code.filter(({ program }) => program === undefined)) {
      await buildCode(one);
      built(one, "code");
    }
    await programs;
    process.chdir(root);
    if (!wantsDeclarations) return;
    const undeclared = packages.filter((one) => one.isDeclared && !isCurrent(one, "declarations"));
    await eachOf(undeclared, availableParallelism(), async (one) => {
      await declare(one.folder, (command) => runIn(one.folder, command));
      built(one, "declarations");
    });
  } finally {
    if (hasBuilt) keep(stamps);
  }
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { declarations: { type: "boolean", default: false } } });
const all = packagesWithBuild();
const folders = positionals.map((folder) => join(process.cwd(), folder));
const unknown = folders.filter((folder) => !all.some((one) => one.folder === folder));
if (unknown.length > 0) {
  console.error(`No package with a build in ${unknown.map((folder) => relative(root, folder) || ".").join(", ")}.`);
  process.exit(2);
}
try {
  await buildAll(folders.length === 0 ? all : all.filter(({ folder }) => folders.includes(folder)), values.declarations);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
