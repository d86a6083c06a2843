// Writes the declarations of a package to its `dist`, and removes those that no entry point reaches: they cannot be imported.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const home = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Relative imports, `import()` types included: in declarations they end in `.ts`. */
const IMPORT = /(?:from|import)\s*\(?\s*["'](\.[^"']+)\.ts["']/g;

/**
 * Writes the declarations of the package in `folder`. `run` runs a command there. With `isolatedDeclarations` each file has what its declaration
 * needs, so nothing is looked up and nothing is checked: the gate `types` does that.
 */
export async function declare(folder, run) {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const doors = Object.values(manifest.exports).flatMap((door) => (typeof door === "object" ? [join(folder, normalize(door.types))] : []));
  await run(`tsc -p ${JSON.stringify(writeProject(folder))}`);
  const reached = new Set();
  const reach = (file) => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const [, path] of readFileSync(file, "utf8").matchAll(IMPORT)) reach(join(file, "..", `${path}.d.ts`));
  };
  doors.forEach(reach);
  for (const name of readdirSync(join(folder, "dist"), { recursive: true })) {
    const file = join(folder, "dist", name);
    if (file.endsWith(".d.ts") && !reached.has(file)) rmSync(file);
  }
}

/** The paths are absolute because `${configDir}` would be the folder of the written file. */
function writeProject(folder) {
  const project = join(folder, "node_modules/.cache/tsconfig.build.json");
  const config = {
    extends: join(home, "tsconfig.base.json"),
    include: [join(folder, "src")],
    exclude: ["test", "test-d"].map((kind) => join(folder, `src/**/*.${kind}.ts`)),
    compilerOptions: {
      customConditions: [],
      noEmit: false,
      noCheck: true,
      noResolve: true,
      emitDeclarationOnly: true,
      rootDir: join(folder, "src"),
      outDir: join(folder, "dist"),
    },
  };
  mkdirSync(dirname(project), { recursive: true });
  writeFileSync(project, JSON.stringify(config));
  return project;
}
