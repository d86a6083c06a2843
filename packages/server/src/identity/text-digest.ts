import { sha256 } from "@loopwright/core/stores";

/** The SHA-256 of a text, in hexadecimal. */
export const textDigest = (text: string): Promise<string> => sha256(new TextEncoder().encode(text));
