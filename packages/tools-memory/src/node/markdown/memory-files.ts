/*
 * Owns: the Markdown files of one owner on disk: names, sizes, appends. Does not own: what is found in them (rank-passages).
 */
import { createHash } from "node:crypto";
import { appendFile, mkdir, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { AgentError } from "@loopwright/core";
import type { MemoryOwner } from "../../memory-store.ts";

export const markdownLimits: { readonly fileBytes: number; readonly filesMax: number; readonly nameCharacters: number } = {
  /** Of one file. */
  fileBytes: 256 * 1024,
  /** Daily files that a search looks through, the newest first. */
  filesMax: 400,
  /** Of a scope or user as a folder name; longer ones are hashed. */
  nameCharacters: 80,
};

/** The file that people curate. Its passages do not age. */
export const curatedFile = "MEMORY.md";

const fileNames = /^(?:MEMORY|\d{4}-\d\d-\d\d)\.md$/;

/** Where the files of an owner are: no name of a user can leave the folder, and no two owners share one. */
export function folderOf(root: string, { scope, user }: MemoryOwner): string {
  return join(root, nameOf(scope), nameOf(user));
}

function nameOf(text: string): string {
  // Letters keep their case only in a hash, because some file systems take both cases for one.
  if (/^[a-z0-9][a-z0-9_-]*$/.test(text) && text.length <= markdownLimits.nameCharacters) return text;
  return `.${createHash("sha256").update(text).digest("hex").slice(0, 40)}`;
}

/** The text of a file; `undefined`: there is none. @throws AgentError TOOL_ARGUMENTS for another name, STORE_FULL, STORE_UNAVAILABLE */
export async function readMemoryFile(folder: string, name: string): Promise<string | undefined> {
  if (!fileNames.test(name))
    throw new AgentError("TOOL_ARGUMENTS", {
      message: "There is no memory file of this name.",
      fix: `Use ${curatedFile}, or a day such as 2027-03-01.md.`,
    });
  return onDisk(async () => {
    const path = join(folder, name);
    const { size } = await stat(path);
    if (size > markdownLimits.fileBytes) throw fileFull(name);
    return readFile(path, "utf8");
  });
}

/** The names of the files, the curated one first, then the newest day. @throws AgentError STORE_UNAVAILABLE */
export async function memoryFileNames(folder: string): Promise<readonly string[]> {
  const names = (await onDisk(() => readdir(folder))) ?? [];
  const days = names.filter((name) => fileNames.test(name) && name !== curatedFile).sort((a, b) => (a < b ? 1 : -1));
  return [...(names.includes(curatedFile) ? [curatedFile] : []), ...days.slice(0, markdownLimits.filesMax)];
}

/** Appends in one write. @throws AgentError STORE_FULL, STORE_UNAVAILABLE */
export async function appendToMemoryFile(folder: string, { name, text }: { readonly name: string; readonly text: string }): Promise<void> {
  await onDisk(async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const size = (await onDisk(() => stat(join(folder, name))))?.size ?? 0;
    if (size + Buffer.byteLength(text) > markdownLimits.fileBytes) throw fileFull(name);
    await appendFile(join(folder, name), text, { mode: 0o600 });
  });
}

const fileFull = (name: string): AgentError =>
  new AgentError("STORE_FULL", {
    message: `The memory file ${name} has more than ${markdownLimits.fileBytes} bytes.`,
    fix: "Shorten it, or move a part of it away.",
  });

async function onDisk<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof AgentError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw new AgentError("STORE_UNAVAILABLE", { message: `The memory files cannot be used (${code ?? "unknown"}).`, cause });
  }
}
