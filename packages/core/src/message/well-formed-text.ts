import type { Json } from "./json.ts";

/** The text with every lone surrogate replaced by U+FFFD, so that it survives UTF-8. */
export function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}

/** The value with every text in it well-formed, names of members included; the same value if all are. For values within the depth limit of a log. */
export function wellFormedJson<Value>(value: Value): Value {
  return isSound(value as Json) ? value : (mended(value as Json) as Value);
}

/** True if every text in the value is well-formed. Allocates nothing, because it checks every piece of an answer, and nearly all are sound. */
export function isSound(value: Json): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return (value as readonly Json[]).every(isSound);
  for (const name in value) if (!name.isWellFormed() || !isSound((value as Readonly<Record<string, Json>>)[name] as Json)) return false;
  return true;
}

/** The position `at`, or the position before it if a cut at `at` would split a surrogate pair. */
export function cutPosition(text: string, at: number): number {
  const last = text.charCodeAt(at - 1);
  return last >= 0xd800 && last <= 0xdbff ? at - 1 : at;
}

function mended(value: Json): Json {
  if (typeof value === "string") return wellFormed(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map(mended);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [wellFormed(name), mended(member)]));
}
