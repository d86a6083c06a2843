/**
 * The name of an uploaded file: a digest of its media type and its bytes. So the same bytes under two media types are two files, and no other blob
 * has such a name.
 */
export async function fileName(bytes: Uint8Array<ArrayBuffer>, mediaType: string): Promise<string> {
  const content = await sha256(bytes);
  return `upload-${await sha256(new TextEncoder().encode(`${mediaType}\n${content}`))}`;
}

/** Whether a blob of this name can only be an uploaded file. */
export const isFileName = (name: string): boolean => /^upload-[0-9a-f]{64}$/.test(name);

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
