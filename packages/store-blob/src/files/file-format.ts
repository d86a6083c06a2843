import { hash } from "node:crypto";
import { AgentError } from "@loopwright/core";

/** What a file holds about its object beside the bytes. */
export interface FileHeader {
  readonly etag: string;
  /** When it was written, in milliseconds since the machine was started; only comparable within one `life`. */
  readonly writtenMs: number;
  readonly life: string;
  readonly mediaType?: string;
}

const digestLength = 64;

/** A file: SHA-256 of the rest, header in one line of JSON, bytes. */
export function sealFile(header: FileHeader, bytes: Uint8Array): Uint8Array {
  const head = Buffer.from(`${JSON.stringify(header)}\n`);
  const rest = Buffer.concat([head, bytes]);
  return Buffer.concat([Buffer.from(`${hash("sha256", rest, "hex")}\n`), rest]);
}

/** @throws AgentError STORE_CORRUPT when the file is not what was written */
export function openFile(file: Uint8Array, key: string): { readonly header: FileHeader; readonly bytes: Uint8Array } {
  const all = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const rest = all.subarray(digestLength + 1);
  const end = rest.indexOf("\n");
  const isWhole = all[digestLength] === 10 && end >= 0 && all.toString("latin1", 0, digestLength) === hash("sha256", rest, "hex");
  if (!isWhole)
    throw new AgentError("STORE_CORRUPT", {
      message: `The object \`${key}\` is damaged.`,
      fix: "Restore it from a backup.",
      details: { key },
    });
  const header: FileHeader = JSON.parse(rest.toString("utf8", 0, end));
  return { header, bytes: new Uint8Array(rest.subarray(end + 1)) };
}
