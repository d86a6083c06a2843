import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const packagesFolder = fileURLToPath(new URL("../packages", import.meta.url));
const vendorSdk = "openai";

interface Manifest {
  readonly files?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

export interface InstalledSize {
  readonly packages: readonly string[];
  readonly bytes: number;
}

function bytesOf(path: string): number {
  if (!existsSync(path)) return 0;
  const found = statSync(path);
  if (!found.isDirectory()) return found.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0);
}

/** What `@loopwright/core` and one provider put on disk beside the vendor's SDK: everything their manifests ask for, as published. */
export function installedSize(): InstalledSize {
  const wanted = ["@loopwright/core", "@loopwright/providers-openai"];
  const seen = new Set<string>();
  let bytes = 0;
  for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
    if (seen.has(name) || name === vendorSdk) continue;
    seen.add(name);
    if (!name.startsWith("@loopwright/")) throw new Error(`${name} is no package of this workspace: measure it in an installation.`);
    const folder = join(packagesFolder, name.slice("@loopwright/".length));
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
    for (const file of ["package.json", "README.md", "LICENSE", ...(manifest.files ?? [])]) bytes += bytesOf(join(folder, file));
    wanted.push(...Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }));
  }
  return { packages: [...seen].sort(), bytes };
}
