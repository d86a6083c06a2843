// Budgets of what is published (budgets.json): unpacked size, number of dependencies, what importing a door loads, and what a browser gets of it.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { tarballs } from "./tarballs.mjs";
import { home, readJson } from "./tree.mjs";

const BUDGETS = "scripts/gates/budgets.json";
/** Packages whose sizes are printed even when all is well. */
const SHOWN = ["@loopwright/core", "@loopwright/client", "@loopwright/web"];

/** Files that importing `entry` loads at once: itself and its static relative imports. */
function loaded(entry, seen = new Set()) {
  if (seen.has(entry)) return seen;
  seen.add(entry);
  const code = readFileSync(entry, "utf8");
  // A build without white space has several of them on one line.
  for (const [, path] of code.matchAll(/(?:^|[;}])(?:import|export)\b[^"'`;()]*["'](\.[^"']+)["']/gm))
    loaded(join(dirname(entry), path), seen);
  return seen;
}

const gzipBytes = (files) => [...files].reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0);

/** A door as a page gets it: bundled with everything it imports, minified. What only Node.js has cannot be bundled. */
function bundled(entry) {
  const { buildSync } = createRequire(createRequire(import.meta.url).resolve("tsup"))("esbuild");
  const options = { bundle: true, minify: true, format: "esm", platform: "browser", write: false, logLevel: "silent" };
  const [{ contents }] = buildSync({ ...options, entryPoints: [entry] }).outputFiles;
  return gzipSync(contents, { level: 9 }).length;
}

/** Files that a browser gets before a page can be used: the page, its scripts and styles, and what those scripts import at once. */
function pageFiles(page) {
  const files = new Set([page]);
  for (const [tag, path] of readFileSync(page, "utf8").matchAll(
    /<(?:script|link)\b[^>]*?\b(?:src|href)="(?!data:|https?:)([^"]+)"[^>]*>/g,
  )) {
    const file = join(dirname(page), path);
    if (/^<link/.test(tag)) {
      if (/rel="(stylesheet|modulepreload)"/.test(tag)) files.add(file);
    } else pageScripts(file, files);
  }
  return files;
}

/** As `loaded`, of code without line breaks. */
function pageScripts(script, files) {
  if (files.has(script)) return;
  files.add(script);
  for (const [, path] of readFileSync(script, "utf8").matchAll(/(?:^|[;}\n])(?:import|export)\b[^"'`;()]*["'](\.[^"']+)["']/g))
    pageScripts(join(dirname(script), path), files);
}

const kb = (bytes) => Math.round(bytes / 100) / 10;

function measures({ root, folder, unpacked, unpackedBytes, manifest }, budget) {
  const doors = Object.entries(budget.doorGzipKb ?? {}).map(([door, most]) => ({
    what: `kB gzipped behind "${door}"`,
    value: kb(gzipBytes(loaded(join(unpacked, manifest.exports[door].default)))),
    most,
  }));
  const bundles = Object.entries(budget.bundleGzipKb ?? {}).map(([door, most]) => ({
    what: `kB gzipped of "${door}" in a bundle`,
    value: kb(bundled(join(root, folder, manifest.exports[door].default))),
    most,
  }));
  const pages = Object.entries(budget.pageGzipKb ?? {}).map(([page, most]) => ({
    what: `kB gzipped to begin ${page}`,
    value: kb(gzipBytes(pageFiles(join(unpacked, page)))),
    most,
  }));
  const dependencies = Object.keys(manifest.dependencies ?? {}).length;
  return [
    { what: "kB unpacked", value: kb(unpackedBytes), most: budget.unpackedKb },
    { what: "dependencies", value: dependencies, most: budget.dependencies ?? Number.POSITIVE_INFINITY },
    ...doors,
    ...bundles,
    ...pages,
  ];
}

async function check(root) {
  const budgets = readJson(existsSync(join(root, BUDGETS)) ? join(root, BUDGETS) : join(home, BUDGETS));
  const packed = tarballs(root).map((one) => ({ ...one, root }));
  const problems = packed.flatMap((one) => {
    const budget = budgets[one.name];
    if (!budget) return [`${one.name}: has no budget in ${BUDGETS}`];
    return measures(one, budget)
      .filter(({ value, most }) => value > most)
      .map(({ what, value, most }) => `${one.name}: ${value} ${what}, at most ${most}`);
  });
  const shown = packed
    .filter(({ name }) => SHOWN.includes(name) && budgets[name])
    .map(
      (one) =>
        `${one.name}: ${measures(one, budgets[one.name])
          .map(({ what, value }) => `${value} ${what}`)
          .join(", ")}`,
    );
  return { problems, seen: shown.join("; ") };
}

const manifest = (name, more = {}) =>
  JSON.stringify({ name, version: "0.0.0", type: "module", exports: { ".": { default: "./index.js" } }, ...more });

const numbers = `// ${[...Array(300)].map((_, index) => (index * 7919) ** 2).join(" ")}\n`;
const page = (name, tags, files) =>
  Object.fromEntries(
    Object.entries({
      "package.json": manifest(`@loopwright/${name}`, { exports: {} }),
      "index.html": `<!doctype html>${tags}`,
      ...files,
    }).map(([path, text]) => [`packages/${name}/${path}`, text]),
  );

export const sizes = {
  name: "sizes",
  needsBuild: true,
  packs: true,
  check,
  sound: {
    [BUDGETS]: JSON.stringify({
      "@loopwright/core": { unpackedKb: 3, dependencies: 0, doorGzipKb: { ".": 1 } },
      "@loopwright/heavy": { unpackedKb: 1 },
      "@loopwright/needy": { unpackedKb: 1, dependencies: 0 },
      "@loopwright/behind": { unpackedKb: 9, doorGzipKb: { ".": 1 } },
      "@loopwright/behind-second": { unpackedKb: 9, doorGzipKb: { ".": 1 } },
      "@loopwright/page-script": { unpackedKb: 9, pageGzipKb: { "index.html": 1 } },
      "@loopwright/page-style": { unpackedKb: 9, pageGzipKb: { "index.html": 1 } },
      "@loopwright/light": { unpackedKb: 9, pageGzipKb: { "index.html": 1 } },
      "@loopwright/paged": { unpackedKb: 9, bundleGzipKb: { ".": 1 } },
    }),
    "packages/core/package.json": manifest("@loopwright/core"),
    "packages/core/index.js": 'import { a } from "./chunk.js";\nexport const later = () => import("./lazy.js");\nexport { a };\n',
    "packages/core/chunk.js": "export const a = 1;\n",
    ...page("light", '<script src="./main.js"></script><link rel="icon" href="./large.js">', {
      "main.js": 'const a=1;export const later=()=>import("./large.js");',
      "large.js": numbers,
    }),
    "packages/core/lazy.js": `// ${[...Array(100)].map((_, index) => (index * 7919) ** 2).join(" ")}\n`,
  },
  planted: [
    ...[
      ["script", '<script type="module" src="./main.js"></script>', { "main.js": 'import{a}from"./a.js";import{b}from"./part.js";' }],
      ["style", '<link rel="stylesheet" crossorigin href="./part.js">', {}],
    ].map(([what, tag, files]) => ({
      title: `a page that begins with too large a ${what}`,
      files: page(`page-${what}`, tag, { ...files, "a.js": "", "part.js": numbers }),
      expects: new RegExp(`page-${what}: [\\d.]+ kB gzipped to begin index\\.html, at most 1`),
    })),
    {
      title: "a package over its budget",
      files: { "packages/heavy/package.json": manifest("@loopwright/heavy"), "packages/heavy/index.js": `// ${"x".repeat(2000)}\n` },
      expects: /heavy: 2\.\d kB unpacked, at most 1/,
    },
    {
      title: "a dependency too many",
      files: {
        "packages/needy/package.json": manifest("@loopwright/needy", { dependencies: { zod: "4.0.0" } }),
        "packages/needy/index.js": "",
      },
      expects: /needy: 1 dependencies, at most 0/,
    },
    {
      title: "a door that loads too much",
      files: {
        "packages/behind/package.json": manifest("@loopwright/behind"),
        "packages/behind/index.js": 'export { a } from "./chunk.js";\n',
        "packages/behind/chunk.js": `export const a = "${[...Array(300)].map((_, index) => (index * 7919) ** 2).join(" ")}";\n`,
      },
      expects: /behind: [\d.]+ kB gzipped behind "\.", at most 1/,
    },
    {
      title: "a door that loads too much by the second import of a line",
      files: {
        "packages/behind-second/package.json": manifest("@loopwright/behind-second"),
        "packages/behind-second/index.js": 'import{b}from"./small.js";import{a,\nc}from"./chunk.js";export{a,b,c};\n',
        "packages/behind-second/small.js": "export const b = 1;\n",
        "packages/behind-second/chunk.js": `export const c = 1;\nexport const a = "${[...Array(300)].map((_, index) => (index * 7919) ** 2).join(" ")}";\n`,
      },
      expects: /behind-second: [\d.]+ kB gzipped behind "\.", at most 1/,
    },
    {
      title: "a bundle that holds too much of another package",
      files: {
        "packages/paged/package.json": manifest("@loopwright/paged"),
        "packages/paged/index.js": 'export { a } from "../../node_modules/big/index.js";\n',
        "node_modules/big/index.js": `export const a = "${[...Array(300)].map((_, index) => (index * 7919) ** 2).join(" ")}";\n`,
      },
      expects: /paged: [\d.]+ kB gzipped of "\." in a bundle, at most 1/,
    },
    {
      title: "a package without a budget",
      files: { "packages/stray/package.json": manifest("@loopwright/stray"), "packages/stray/index.js": "" },
      expects: /stray: has no budget/,
    },
  ],
};
