// npm installs in many folders of one process, each package unpacked once. npm resolves each folder by itself; what it has unpacked for an earlier
// folder it finds in place as hard links, checks against its lockfile, and unpacks only what is missing. Most of the time of an install is the
// thousands of files of the vendors' SDKs.
import { existsSync, linkSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { readJson, tool } from "./tree.mjs";

const NPM = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
const TIMEOUT_MS = 300_000;

let madeStore;

/** A folder of this process: one folder for each package, named by the digest of its content. */
function storeFolder() {
  if (madeStore === undefined) {
    madeStore = mkdtempSync(join(tmpdir(), "loopwright-unpacked-"));
    process.on("exit", () => rmSync(madeStore, { recursive: true, force: true }));
  }
  return madeStore;
}

const placeOf = (integrity) => join(storeFolder(), Buffer.from(integrity).toString("base64url").slice(0, 200));

/** Links every file of a package; the packages inside its `node_modules` have places of their own. */
function linkFiles(from, to) {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (entry.name === "node_modules") continue;
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkFiles(source, target);
    else linkSync(source, target);
  }
}

/** The packages of a lockfile that have a digest; one that brings others in its own tarball is left to npm. */
function packagesIn(lockfile) {
  const all = Object.entries(readJson(lockfile).packages);
  const bringsOthers = (path) => all.some(([other, { inBundle }]) => inBundle && other.startsWith(`${path}/`));
  return all.filter(([path, { integrity, inBundle }]) => path !== "" && integrity && !inBundle && !bringsOthers(path));
}

/** The commands of a package: without these links npm would unpack the package again. */
function linkCommands(folder, path, commands) {
  const binaries = join(folder, path.slice(0, path.lastIndexOf("node_modules/")), "node_modules", ".bin");
  for (const [name, file] of Object.entries(commands)) {
    mkdirSync(binaries, { recursive: true });
    if (!existsSync(join(binaries, name))) symlinkSync(relative(binaries, join(folder, path, file)), join(binaries, name));
  }
}

/** Puts in place what the store has, and npm's own record of it. */
function takeFromStore(folder) {
  const lock = readJson(join(folder, "package-lock.json"));
  const here = packagesIn(join(folder, "package-lock.json")).filter(([, { integrity }]) => existsSync(placeOf(integrity)));
  if (here.length === 0) return;
  for (const [path, { integrity, bin = {} }] of here) {
    linkFiles(placeOf(integrity), join(folder, path));
    linkCommands(folder, path, bin);
  }
  // npm believes its record only when it is newer than every folder: it is written last.
  const record = { ...lock, packages: Object.fromEntries(here) };
  writeFileSync(join(folder, "node_modules", ".package-lock.json"), JSON.stringify(record));
}

function addToStore(folder) {
  const record = join(folder, "node_modules", ".package-lock.json");
  if (!existsSync(record)) return;
  for (const [path, { integrity }] of packagesIn(record)) {
    const place = placeOf(integrity);
    if (existsSync(place) || !existsSync(join(folder, path))) continue;
    mkdirSync(dirname(place), { recursive: true });
    linkFiles(join(folder, path), place);
  }
}

/** Runs npm. A list of versions in its cache may be older than a version that another package needs: then the list is fetched again. */
function npm(words, folder, options) {
  const run = tool("npm", [...NPM, "--prefer-offline", ...words], folder, options);
  return run.code !== 0 && run.output.includes("ETARGET") ? tool("npm", [...NPM, "--prefer-online", ...words], folder, options) : run;
}

/** Exit code and output of npm after it has installed `wanted` (paths of tarballs, names with versions) and what the manifest of the folder names. */
export function installShared(folder, wanted, environment = process.env) {
  const options = { env: environment, timeout: TIMEOUT_MS };
  const resolving = npm(["--package-lock-only", ...wanted], folder, options);
  if (resolving.code !== 0) return resolving;
  takeFromStore(folder);
  const installing = npm([], folder, options);
  if (installing.code === 0) addToStore(folder);
  return installing;
}
