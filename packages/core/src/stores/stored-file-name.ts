import { sha256 } from "../message/sha256.ts";

/**
 * The key of a file in a blob store: a digest of its media type and its bytes. So the same bytes under two media types are two files, and no other blob
 * has such a key. The server serves only blobs with such keys.
 */
export async function fileName(bytes: Uint8Array<ArrayBuffer>, mediaType: string): Promise<string> {
  const content = await sha256(bytes);
  return `upload-${await sha256(new TextEncoder().encode(`${mediaType}\n${content}`))}`;
}

/** The key of the note about a file: its name, for lists. The note has the owners of the file and is removed with it. */
export const fileNoteName = (file: string): string => `about-${file}`;

/** True if a blob of this key can only be a file. */
export const isFileName = (name: string): boolean => /^upload-[0-9a-f]{64}$/.test(name);
