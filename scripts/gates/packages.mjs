// What is published is sound: house rules of the manifest, publint, and types that resolve (attw).
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { tarballs } from "./tarballs.mjs";

const NODE_FLOOR = ">=22.16";
const CORE = "@loopwright/core";

/** In the workspace a door leads to its source first; what is published knows types and code only. */
function isDoor(door, published) {
  const { "@loopwright/source": source, ...rest } = door;
  return source !== undefined && Object.keys(door).join() === "@loopwright/source,types,default" && isDeepStrictEqual(rest, published);
}

/** A package with a door has code to import; one without (a page) is files. */
const isLibrary = ({ exports = {} }) => Object.values(exports).some((door) => typeof door === "object");

function houseProblems({ name, manifest, source, files }) {
  const rules = {
    "license is not MIT": manifest.license === "MIT",
    "type is not module": manifest.type === "module",
    [`engines.node is not ${NODE_FLOOR}`]: manifest.engines?.node === NODE_FLOOR,
    "no LICENSE": files.includes("LICENSE"),
    "no README.md": files.includes("README.md"),
    "no description": Boolean(manifest.description),
    "holds sources, tests or maps": !files.some((file) => /^(src|test)\/|\.test(-d)?\.|\.map$/.test(file)),
  };
  if (isLibrary(source)) {
    rules["sideEffects is not false"] = manifest.sideEffects === false;
    rules["a door is not source, types, default; or publishConfig.exports is not the same without source"] = Object.entries(
      source.exports,
    ).every(([name, door]) => typeof door === "string" || isDoor(door, manifest.exports[name]));
    rules["a library brings core instead of taking it as a peer"] = name === CORE || CORE in (manifest.peerDependencies ?? {});
  }
  if (name === CORE) rules["core has dependencies"] = !manifest.dependencies && !manifest.peerDependencies;
  return Object.entries(rules).flatMap(([problem, kept]) => (kept ? [] : [`${name}: ${problem}`]));
}

async function publintProblems({ name, unpacked, manifest }) {
  const { messages } = await publint({ pkgDir: unpacked, pack: false, strict: true });
  return messages.map((message) => `${name}: publint: ${formatMessage(message, manifest, { color: false })}`);
}

/** Ways to look up types that no package here supports: it is ESM, found by `exports`. */
const UNSUPPORTED = ["node10", "node16-cjs"];

/** In this process: the command of attw would load TypeScript for each package. */
async function typeProblems({ name, tarball, manifest }) {
  if (!isLibrary(manifest)) return [];
  const { types, problems = [] } = await checkPackage(createPackageFromTarballData(readFileSync(tarball)));
  if (!types) return [`${name}: attw: has no types`];
  return problems
    .filter(({ resolutionKind, resolutionOption }) => !UNSUPPORTED.includes(resolutionKind ?? resolutionOption))
    .map(({ kind, ...where }) => `${name}: attw: ${kind} ${JSON.stringify(where)}`);
}

async function check(root) {
  const packed = tarballs(root);
  const problems = [];
  for (const one of packed) problems.push(...houseProblems(one), ...(await publintProblems(one)), ...(await typeProblems(one)));
  return { problems, seen: `${packed.length} tarballs` };
}

const published = (name) => ({ types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` });
const door = (name) => ({ "@loopwright/source": `./src/${name}.ts`, ...published(name) });

function library(folder, changes = {}, files = {}) {
  const manifest = {
    name: `@loopwright/${folder}`,
    version: "0.0.0",
    description: "A package.",
    license: "MIT",
    type: "module",
    sideEffects: false,
    engines: { node: NODE_FLOOR },
    files: ["dist"],
    exports: { ".": door("index") },
    publishConfig: { exports: { ".": published("index") } },
    peerDependencies: { [CORE]: "^0.0.0" },
    ...changes,
  };
  const all = {
    LICENSE: "MIT\n",
    "README.md": `# ${folder}\n`,
    "src/index.ts": "export const a: number = 1;\n",
    "dist/index.js": "export const a = 1;\n",
    "dist/index.d.ts": "export declare const a: number;\n",
    "package.json": JSON.stringify(manifest),
    ...files,
  };
  return Object.fromEntries(Object.entries(all).map(([path, text]) => [`packages/${folder}/${path}`, text]));
}

/** A package of files: nothing to import, nothing to ask of core. */
const page = {
  exports: { "./dist/*": "./dist/*" },
  publishConfig: undefined,
  sideEffects: undefined,
  peerDependencies: undefined,
};

const planted = (folder, expects, changes, files) => ({
  title: `${folder}: ${expects.source}`,
  files: library(folder, changes, files),
  expects,
});

export const packages = {
  name: "packages",
  needsBuild: true,
  packs: true,
  check,
  sound: { ...library("core", { peerDependencies: undefined }), ...library("fine"), ...library("page", page) },
  planted: [
    planted("old", /old: engines\.node/, { engines: { node: ">=20" } }),
    planted("tested", /tested: holds sources, tests or maps/, {}, { "dist/a.test.js": "" }),
    planted("heavy", /heavy: holds sources, tests or maps/, { files: ["dist", "src"] }),
    planted("shut", /shut: a door is not source/, { exports: { ".": "./dist/index.js", "./a": { default: "./dist/index.js" } } }),
    planted("apart", /apart: a door is not source/, { publishConfig: { exports: { ".": { default: "./dist/index.js" } } } }),
    planted("lonely", /lonely: a library brings core/, { peerDependencies: {} }),
    planted("core", /core: core has dependencies/, { peerDependencies: undefined, dependencies: { zod: "4.0.0" } }),
    planted("missing", /missing: publint: .*does not exist/, {
      publishConfig: { exports: { ".": published("index"), "./gone": published("gone") } },
    }),
    planted("blank", /blank: publint: .*does not exist/, { ...page, exports: { "./page": "./dist/index.html" } }),
    planted("bound", /bound: a library brings core/, { ...page, exports: { ...page.exports, ".": door("index") } }),
    planted("untyped", /untyped: attw: /, {}, { "dist/index.d.ts": 'export { a } from "./gone.ts";\nexport = 1;\n' }),
  ],
};
