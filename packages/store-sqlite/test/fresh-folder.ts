import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

// Each worker thread strips the types of the sources it loads; with a cache only the first of a test file does.
process.env["NODE_COMPILE_CACHE"] ??= join(tmpdir(), "loopwright-compile-cache");

/** A folder that goes away after the test file. */
export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "loopwright-store-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
