// Installs packages of this workspace in a package outside of it, before they are released: `npm run install-unreleased -- <folder>`.
// Packs those that the manifest of the folder names, copies the tarballs into the folder and has npm install them from there.
import { copyFileSync, existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { tarballsOf } from "./gates/tarballs.mjs";
import { readJson, tool } from "./gates/tree.mjs";

const NPM = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", "--loglevel=error"];

/** The names of all packages that the manifest of the folder depends on. */
export function dependenciesOf(folder) {
  const { dependencies, devDependencies } = readJson(join(folder, "package.json"));
  return Object.keys({ ...dependencies, ...devDependencies });
}

/** Copies the tarballs into the folder and installs them, with what else its manifest names. Returns the exit code and the output of npm. */
function installTarballs(folder, packed, environment = process.env) {
  for (const { tarball } of packed) copyFileSync(tarball, join(folder, basename(tarball)));
  const paths = packed.map(({ tarball }) => `./${basename(tarball)}`);
  return tool("npm", [...NPM, ...paths], folder, { env: environment, timeout: 300_000 });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined || !existsSync(join(folder, "package.json"))) {
    console.error("Usage: npm run install-unreleased -- <folder>, where the folder has a package.json.");
    process.exit(2);
  }
  const packed = tarballsOf(join(dirname(fileURLToPath(import.meta.url)), ".."), dependenciesOf(resolve(folder)));
  const { code, output } = installTarballs(resolve(folder), packed);
  console.log(output);
  if (code === 0) console.log(`Installed ${packed.map(({ name }) => name).join(", ")} in ${folder}.`);
  process.exit(code);
}
