import type { SessionRef } from "@loopwright/core/ports";
import { open, seal } from "@loopwright/secrets/envelope";

interface TextKey {
  readonly ref: SessionRef;
  readonly key: Uint8Array;
}

const prefix = "sealed:";
const placeOf = ({ scope, session }: SessionRef): readonly unknown[] => [scope, session, "text"];

/** A text in one word, for fields that lists show. */
export const sealText = ({ ref, key }: TextKey, text: string): string => `${prefix}${seal(key, placeOf(ref), text).toString("base64url")}`;

/** The text that stands sealed at the end of another one; `undefined` where there is none that this key opens. */
export function openText({ ref, key }: TextKey, text: string): string | undefined {
  const at = text.lastIndexOf(prefix);
  if (at < 0) return undefined;
  return open(key, placeOf(ref), Buffer.from(text.slice(at + prefix.length), "base64url"))?.toString("utf8");
}
