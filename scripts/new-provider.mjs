#!/usr/bin/env node
// Makes a provider package from templates/provider: `node scripts/new-provider.mjs acme [folder]`.
// The template is a working package for a made-up vendor named Acme; docs/write-a-provider.md walks through it.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const home = join(dirname(fileURLToPath(import.meta.url)), "..");
export const template = join(home, "templates/provider");

/** Every file of the template, as paths from its folder. */
export function templateFiles() {
  return readdirSync(template, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(template.length + 1))
    .sort();
}

/** Writes the package of a vendor into a folder that does not exist yet. Gives back the files written. */
export function newProvider(name, folder = join(home, "packages", `providers-${name}`)) {
  if (!/^[a-z][a-z0-9]*$/.test(name)) throw new Error(`"${name}" is no name for a vendor: use lower case letters and digits.`);
  if (existsSync(folder)) throw new Error(`${folder} exists already.`);
  const named = (text) =>
    text
      .replaceAll("ACME", name.toUpperCase())
      .replaceAll("Acme", name[0].toUpperCase() + name.slice(1))
      .replaceAll("acme", name);
  return templateFiles().map((file) => {
    const path = join(folder, named(file));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, named(readFileSync(join(template, file), "utf8")));
    return path;
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name, folder] = process.argv.slice(2);
  if (name === undefined) {
    console.error("Usage: node scripts/new-provider.mjs <vendor> [folder]");
    process.exit(2);
  }
  try {
    for (const file of newProvider(name, folder)) console.log(file);
    console.log("\nNext: BOOTSTRAP_FIX_LOCKFILE=1 npm run prepare-workspace, then docs/write-a-provider.md from `What to change` on.");
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
