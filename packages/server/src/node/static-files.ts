import { readFile, realpath } from "node:fs/promises";
import { extname, join, sep } from "node:path";
import type { PageFile, ServerOptions } from "../server-options.ts";

const mediaTypes: { readonly [extension: string]: string } = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2",
};

/** Names as builders make them: `index-B1aZne9g.js`. */
const digested = /-[A-Za-z0-9_-]{8,}\.[a-z0-9]+$/;

/**
 * The files of a built page, for the option `page`. Each is read once and kept; nothing outside the directory is ever read. The empty path is
 * `index.html`.
 */
export function staticFiles(directory: string): NonNullable<ServerOptions["page"]> {
  const known = new Map<string, PageFile>();
  let root: Promise<string> | undefined;

  async function read(path: string): Promise<PageFile | undefined> {
    const mediaType = mediaTypes[extname(path)];
    if (mediaType === undefined || path.split("/").some((part) => part === ".." || part.includes("\0") || part.includes("\\")))
      return undefined;
    try {
      root ??= realpath(directory);
      const file = await realpath(join(await root, path));
      if (!file.startsWith(`${await root}${sep}`)) return undefined;
      return { bytes: await readFile(file), mediaType, immutable: digested.test(path) };
    } catch {
      root = undefined;
      return undefined;
    }
  }

  return async (path) => {
    const wanted = path === "" ? "index.html" : path;
    const file = known.get(wanted) ?? (await read(wanted));
    if (file) known.set(wanted, file);
    return file;
  };
}
