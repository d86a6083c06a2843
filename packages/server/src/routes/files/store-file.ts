import type { SessionStore } from "@loopwright/core/ports";
import { fileName } from "@loopwright/core/stores";
import type { KnownFile } from "../../server-options.ts";
import { checkFileContent } from "./check-file-content.ts";
import { keepNote } from "./file-metadata.ts";

/** A file to keep. */
export interface NewFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly mediaType: string;
  readonly name?: string | undefined;
  /** In milliseconds since the epoch. */
  readonly at: number;
  /** The user that uploads it. */
  readonly by: string;
}

/**
 * Keeps a file in a scope, as `POST /api/files` does. Messages name it as `source.blob`. The same bytes under the same media type are kept once, with the
 * name and the user of the first upload. @throws AgentError MEDIA_TYPE_UNSUPPORTED, PAYLOAD_TOO_LARGE, STORE_*
 */
export async function keepFile(
  store: Pick<SessionStore, "blobs">,
  scope: string,
  { bytes, mediaType, name, at, by }: NewFile,
): Promise<Omit<KnownFile, "at" | "by">> {
  checkFileContent(bytes, mediaType);
  const blob = await fileName(bytes, mediaType);
  const file = { blob, mediaType, sizeBytes: bytes.byteLength, ...(name === undefined ? {} : { name }) };
  await store.blobs.put(scope, blob, { bytes, mediaType, ifAbsent: true });
  await keepNote(store, scope, { ...file, at, by });
  return file;
}
