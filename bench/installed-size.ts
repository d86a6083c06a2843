import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const bench = fileURLToPath(new URL(".", import.meta.url));

interface Manifest {
  readonly name: string;
  readonly files?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

export interface InstalledSize {
  readonly packages: readonly string[];
  readonly bytes: number;
}

function bytesOf(path: string): number {
  if (!existsSync(path)) return 0;
  const found = statSync(path);
  if (!found.isDirectory()) return found.size;
  return readdirSync(path).reduce((sum, name) => (name === "node_modules" ? sum : sum + bytesOf(join(path, name))), 0);
}

/** Where a package finds another one. */
function folderOf(name: string, from: string): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = join(folder, "node_modules", name);
    if (existsSync(found)) return realpathSync(found);
    if (folder === dirname(folder)) throw new Error(`${name} is not installed for ${from}.`);
  }
}

/** Of the workspace only what is published. */
function ownBytes(folder: string, { name, files }: Manifest): number {
  if (!name.startsWith("@loopwright/")) return bytesOf(folder);
  return ["package.json", "README.md", "LICENSE", ...(files ?? [])].reduce((sum, file) => sum + bytesOf(join(folder, file)), 0);
}

/** What these packages put on disk with all they ask for, beside what `without` names. */
export function installedSize(wanted: readonly string[], without: readonly string[] = []): InstalledSize {
  const seen = new Set<string>(without);
  const packages: string[] = [];
  let bytes = 0;
  const visit = (name: string, from: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    packages.push(name);
    const folder = folderOf(name, from);
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
    const { dependencies, peerDependencies = {}, peerDependenciesMeta } = manifest;
    bytes += ownBytes(folder, manifest);
    const peers = Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta?.[peer]?.optional !== true);
    for (const needed of [...Object.keys(dependencies ?? {}), ...peers]) visit(needed, folder);
  };
  for (const name of wanted) visit(name, bench);
  return { packages: packages.sort(), bytes };
}
