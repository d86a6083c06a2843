// Writes the declarations of the package in the current folder to `dist`, and removes those that no entry point reaches: they cannot be imported.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const home = join(dirname(fileURLToPath(import.meta.url)), "..");
const here = process.cwd();
const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const doors = Object.values(manifest.exports).flatMap((door) => (typeof door === "object" ? [normalize(door.types)] : []));

// Below the package, so that types are looked up from there; the paths are absolute because `${configDir}` would be this folder.
const project = join(here, "node_modules/.cache/tsconfig.build.json");
const config = {
  extends: join(home, "tsconfig.base.json"),
  include: [join(here, "src")],
  exclude: ["test", "test-d"].map((kind) => join(here, `src/**/*.${kind}.ts`)),
  compilerOptions: {
    customConditions: [],
    noEmit: false,
    emitDeclarationOnly: true,
    rootDir: join(here, "src"),
    outDir: join(here, "dist"),
  },
};
mkdirSync(dirname(project), { recursive: true });
writeFileSync(project, JSON.stringify(config));
const { status } = spawnSync("tsc", ["-p", project], { stdio: "inherit", shell: process.platform === "win32" });
if (status !== 0) process.exit(status ?? 1);

/** Relative imports, `import()` types included: in declarations they end in `.ts`. */
const IMPORT = /(?:from|import)\s*\(?\s*["'](\.[^"']+)\.ts["']/g;

const reached = new Set();
function reach(file) {
  if (reached.has(file)) return;
  reached.add(file);
  for (const [, path] of readFileSync(file, "utf8").matchAll(IMPORT)) reach(join(file, "..", `${path}.d.ts`));
}
doors.forEach(reach);

for (const name of readdirSync("dist", { recursive: true })) {
  const file = join("dist", name);
  if (file.endsWith(".d.ts") && !reached.has(file)) rmSync(file);
}
