import { readFile, realpath } from "node:fs/promises";
import { extname, join, sep } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { PageFile, ServerOptions } from "../server-options.ts";

const mediaTypes: { readonly [extension: string]: string } = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2",
};

const compressible: ReadonlySet<string> = new Set([".css", ".html", ".js", ".json", ".svg", ".txt", ".webmanifest"]);
const compress = promisify(gzip);

/** Names with a digest, as bundlers write them: `index-B1aZne9g.js`. */
const digested = /-[A-Za-z0-9_-]{8,}\.[a-z0-9]+$/;

/** True for a path segment that leaves the directory, is another spelling of a name, or begins with a dot. */
const isRefused = (step: string): boolean => step === "" || step.startsWith(".") || /[\\\0]/.test(step);

/**
 * The files of a built page, for the option `page`. Each is read and compressed once, and kept. Files outside the directory, source maps and files whose
 * name begins with a dot are never read. The empty path is `index.html`.
 */
export function staticFiles(directory: string): NonNullable<ServerOptions["page"]> {
  const known = new Map<string, PageFile>();
  let root: Promise<string> | undefined;

  async function read(path: string): Promise<PageFile | undefined> {
    const mediaType = mediaTypes[extname(path)];
    if (mediaType === undefined || path.split("/").some(isRefused)) return undefined;
    try {
      root ??= realpath(directory);
      const place = join(await root, path);
      const file = await realpath(place);
      if (!file.startsWith(`${await root}${sep}`)) return undefined;
      const bytes = await readFile(file);
      const small = compressible.has(extname(path)) ? { gzip: await compress(bytes) } : {};
      const found = { bytes, ...small, mediaType, immutable: digested.test(path) };
      // On a file system that ignores case, one file has thousands of names, so only the exact name is cached.
      if (file.toLowerCase() !== place.toLowerCase() || file === place) known.set(path, found);
      return found;
    } catch {
      root = undefined;
      return undefined;
    }
  }

  return async (path) => {
    const wanted = path === "" ? "index.html" : path;
    return known.get(wanted) ?? read(wanted);
  };
}
