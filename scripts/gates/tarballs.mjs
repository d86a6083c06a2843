// The published packages as npm would get them: packed by pnpm, which rewrites `workspace:` and `catalog:`, and unpacked again.
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { filesBelow, published, readJson, tool } from "./tree.mjs";

const made = new Map();

function pack(root, { folder, manifest }) {
  const target = join(root, ".turbo", "tarballs", manifest.name.replace("@", "").replace("/", "-"));
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const packing = tool("pnpm", ["pack", "--pack-destination", target], join(root, folder));
  if (packing.code !== 0) throw new Error(`${folder}: ${packing.output}`);
  const [name] = readdirSync(target);
  const unpacking = tool("tar", ["-xzf", name], target);
  if (unpacking.code !== 0) throw new Error(`${name}: ${unpacking.output}`);
  const unpacked = join(target, "package");
  const files = filesBelow(unpacked, ".", { all: true });
  return {
    name: manifest.name,
    folder,
    tarball: join(target, name),
    unpacked,
    manifest: readJson(join(unpacked, "package.json")),
    source: manifest,
    files,
    unpackedBytes: files.reduce((sum, file) => sum + statSync(join(unpacked, file)).size, 0),
  };
}

/** The published packages of these names, packed. Needs the builds. */
export const tarballsOf = (root, names) =>
  published(root)
    .filter(({ manifest }) => names.includes(manifest.name))
    .map((workspace) => pack(root, workspace));

/** Every published package of the workspace at `root`, packed once a process. Needs the builds. */
export function tarballs(root) {
  if (!made.has(root))
    made.set(
      root,
      published(root).map((workspace) => pack(root, workspace)),
    );
  return made.get(root);
}
