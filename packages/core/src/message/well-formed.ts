import type { Json } from "./json.ts";

/** Made once: the build writes it as a constructor, for the sake of older engines. */
const loneSurrogate = /\p{Surrogate}/gu;
const anySurrogate = /[\ud800-\udfff]/;

/** The text with every lone surrogate replaced by U+FFFD, so that it survives UTF-8. */
export function wellFormed(text: string): string {
  return anySurrogate.test(text) ? text.replace(loneSurrogate, "\uFFFD") : text;
}

/** The value with every text in it well-formed, names of members included; itself where all are. Never deeper than the limit of a log. */
export function wellFormedJson<Value>(value: Value): Value {
  return mended(value as Json) as Value;
}

function mended(value: Json): Json {
  if (typeof value === "string") return wellFormed(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = (value as readonly Json[]).map(mended);
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  const entries = Object.entries(value).map(([name, member]): readonly [string, string, Json, Json] => [
    name,
    wellFormed(name),
    member,
    member === undefined ? member : mended(member),
  ]);
  const isSound = entries.every(([name, newName, member, newMember]) => name === newName && member === newMember);
  return isSound ? value : Object.fromEntries(entries.map(([, name, , member]) => [name, member]));
}
