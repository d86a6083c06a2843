#!/usr/bin/env node
// Makes a package from a template: `node scripts/new-package.mjs provider|store|channel <name> [folder]`.
// Without a folder the package joins this workspace, below packages/. With one it stands alone: its manifests name versions, and npm installs it.
// A template is a working package of a made-up vendor named Acme; docs/write-a-<kind>.md explains it.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const home = join(dirname(fileURLToPath(import.meta.url)), "..");
/** Kind -> what the names of its packages in this workspace begin with. */
const prefixes = { provider: "providers-", store: "store-", channel: "channel-" };
export const kinds = Object.keys(prefixes);

const templateOf = (kind) => join(home, "templates", kind);
const read = (path) => readFileSync(join(home, path), "utf8");
const json = (value) => `${JSON.stringify(value, null, 2)}\n`;

/** Every file of a template, as paths from its folder. */
export function templateFiles(kind) {
  const template = templateOf(kind);
  return readdirSync(template, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(template.length + 1))
    .sort();
}

/** Writes a package into a folder that does not exist yet. Returns the paths of the files written. */
export function newPackage(kind, name, { folder, isStandalone = folder !== undefined } = {}) {
  if (!kinds.includes(kind)) throw new Error(`"${kind}" is no kind of package: use ${kinds.join(", ")}.`);
  if (!/^[a-z][a-z0-9]*$/.test(name)) throw new Error(`"${name}" is no name for a package: use lower case letters and digits.`);
  const target = folder ?? join(home, "packages", prefixes[kind] + name);
  if (existsSync(target)) throw new Error(`${target} exists already.`);
  const files = templateFiles(kind).map((file) => [file, readFileSync(join(templateOf(kind), file), "utf8")]);
  const texts = { ...Object.fromEntries(files), ...(isStandalone ? standaloneFiles(Object.fromEntries(files), kind) : {}) };
  return Object.entries(texts).map(([file, text]) => {
    const path = join(target, named(file, name));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, named(text, name));
    return path;
  });
}

function named(text, name) {
  return text
    .replaceAll("ACME", name.toUpperCase())
    .replaceAll("Acme", name[0].toUpperCase() + name.slice(1))
    .replaceAll("acme", name);
}

/** What differs outside this workspace: manifests with versions, settings of the compiler and the test runner, and the name of the package. */
function standaloneFiles(files, kind) {
  const ownName = `loopwright-${kind}-acme`;
  const manifest = JSON.parse(files["package.json"]);
  const { customConditions: _, ...compilerOptions } = JSON.parse(read("tsconfig.base.json")).compilerOptions;
  return {
    "README.md": files["README.md"].replaceAll(manifest.name, ownName),
    "package.json": json(standaloneManifest(manifest, ownName)),
    "tsconfig.json": json({ include: ["src", "test"], compilerOptions }),
    "tsconfig.build.json": json({
      extends: "./tsconfig.json",
      include: ["src"],
      compilerOptions: { noEmit: false, rootDir: "src", outDir: "dist" },
    }),
    "vitest.config.ts":
      'import { defineConfig } from "vitest/config";\n\nexport default defineConfig({ test: { include: ["test/**/*.test.ts"], testTimeout: 30_000 } });\n',
    ".gitignore": "dist\nnode_modules\n",
  };
}

function standaloneManifest(manifest, name) {
  const { publishConfig: _, scripts: __, dependencies, peerDependencies, devDependencies, ...rest } = manifest;
  const tools = { typescript: JSON.parse(read("package.json")).devDependencies.typescript, vitest: "catalog:" };
  return {
    ...rest,
    name,
    exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" }, "./package.json": "./package.json" },
    scripts: { build: "tsc -p tsconfig.build.json", typecheck: "tsc -p tsconfig.json", test: "vitest run" },
    ...(dependencies ? { dependencies: withVersions(dependencies) } : {}),
    peerDependencies: withVersions(peerDependencies),
    devDependencies: withVersions({ ...devDependencies, ...tools }),
  };
}

/** `workspace:` as the version of this checkout, `catalog:` as the version of the catalog. */
function withVersions(dependencies) {
  return Object.fromEntries(
    Object.entries(dependencies).map(([name, range]) => {
      if (range.startsWith("workspace:")) return [name, `^${JSON.parse(read(`packages/${name.split("/")[1]}/package.json`)).version}`];
      return [name, range === "catalog:" ? catalogVersion(name) : range];
    }),
  );
}

function catalogVersion(name) {
  const quoted = name.replace(/[/\-@]/g, "\\$&");
  const [, version] = new RegExp(`^  "?${quoted}"?: (.+)$`, "m").exec(read("pnpm-workspace.yaml")) ?? [];
  if (version === undefined) throw new Error(`pnpm-workspace.yaml has no version of ${name}.`);
  return version;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [kind, name, folder] = process.argv.slice(2);
  if (name === undefined) {
    console.error(`Usage: node scripts/new-package.mjs ${kinds.join("|")} <name> [folder]`);
    process.exit(2);
  }
  try {
    for (const file of newPackage(kind, name, { folder })) console.log(file);
    const next =
      folder === undefined
        ? "BOOTSTRAP_FIX_LOCKFILE=1 npm run prepare-workspace"
        : `npm run install-unreleased -- ${folder} && cd ${folder} && npm test`;
    console.log(`\nNext: ${next}, then docs/write-a-${kind}.md from "What to change" on.`);
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
