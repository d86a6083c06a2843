import type { SessionStore } from "@loopwright/core/ports";
import { fileNoteName } from "@loopwright/core/stores";
import type { KnownFile } from "../../server-options.ts";

/** What is kept of a file beside its bytes. */
export type FileNote = KnownFile;

/** The beginning of the keys of all notes. */
export const notePrefix: string = fileNoteName("upload-");

/** Keeps a note unless the file has one. @throws AgentError STORE_* */
export async function keepNote({ blobs }: Pick<SessionStore, "blobs">, scope: string, note: FileNote): Promise<void> {
  const bytes = new TextEncoder().encode(JSON.stringify(note));
  await blobs.put(scope, fileNoteName(note.blob), { bytes, mediaType: "application/json", ifAbsent: true });
}

/** `undefined`: the file was removed meanwhile. @throws AgentError STORE_* */
export async function readNote({ blobs }: Pick<SessionStore, "blobs">, scope: string, key: string): Promise<FileNote | undefined> {
  const [kept, [file]] = await Promise.all([
    blobs.get(scope, key),
    blobs.list(scope, { prefix: key.slice(notePrefix.length - "upload-".length), limit: 1 }),
  ]);
  return kept && file !== undefined ? (JSON.parse(new TextDecoder().decode(kept.bytes)) as FileNote) : undefined;
}

/** What messages need to know of a file. */
export type StoredFile = Pick<KnownFile, "mediaType" | "sizeBytes" | "name">;

/** The file of this key; `undefined`: the scope has none. A file without a note is read. @throws AgentError STORE_* */
export async function storedFile(store: Pick<SessionStore, "blobs">, scope: string, key: string): Promise<StoredFile | undefined> {
  const note = await readNote(store, scope, fileNoteName(key));
  if (note) return note;
  const found = await store.blobs.get(scope, key);
  return found && { mediaType: found.mediaType ?? "application/octet-stream", sizeBytes: found.bytes.byteLength };
}
