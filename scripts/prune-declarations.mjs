// Removes the declarations in `dist` that no door of the package in the current folder reaches: nobody can import them.
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join, normalize } from "node:path";

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const doors = Object.values(manifest.exports).flatMap((door) => (typeof door === "object" ? [normalize(door.types)] : []));

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
