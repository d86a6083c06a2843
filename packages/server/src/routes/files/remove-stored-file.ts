import { AgentError } from "@loopwright/core";
import type { SessionStore } from "@loopwright/core/ports";
import { fileNoteName, isFileName } from "@loopwright/core/stores";
import type { KnownFile } from "../../server-options.ts";
import { keepNote, readNote } from "./file-metadata.ts";

export interface KeptFileRemoval {
  readonly blob: string;
  /** True if the caller may remove the file; `undefined`: only the key of the file is known. Default: true. */
  readonly isSeen?: (file: KnownFile | undefined) => boolean | Promise<boolean>;
}

/**
 * Deletes a file of a scope, as `DELETE /api/files/:blob` does. A file that a session uses stays: the session needs it, and may be under a legal hold.
 * @throws AgentError BLOB_UNKNOWN, FILE_IN_USE, STORE_*
 */
export async function removeKeptFile(
  store: Pick<SessionStore, "blobs">,
  scope: string,
  { blob, isSeen = () => true }: KeptFileRemoval,
): Promise<void> {
  const { blobs } = store;
  const isThere = async (): Promise<boolean> => (await blobs.list(scope, { prefix: blob, limit: 1 })).includes(blob);
  const inUse = (): AgentError =>
    new AgentError("FILE_IN_USE", { message: "Sessions use the file, so it stays. It is deleted with the last of them." });
  const unknown = (): AgentError => new AgentError("BLOB_UNKNOWN", { message: "There is no file of this name." });
  if (!isFileName(blob) || !(await isThere())) throw unknown();
  const noteName = fileNoteName(blob);
  const note = await readNote(store, scope, noteName);
  if (!(await isSeen(note))) throw unknown();
  if (!(await blobs.remove(scope, blob, { ifUnused: true }))) throw (await isThere()) ? inUse() : unknown();
  await blobs.remove(scope, noteName, { ifUnused: true });
  // Another caller may have uploaded the file again before its note was removed.
  if (note && (await isThere())) await keepNote(store, scope, note);
}
