/** An upper bound of the bytes of a value as JSON where no character is escaped as `\uXXXX`, without making the JSON. Cost: one visit per node. */
export function weigh(value: unknown): number {
  if (typeof value === "string") return value.length * 3 + 2;
  if (typeof value !== "object" || value === null) return 24;
  let bytes = 2;
  if (Array.isArray(value)) for (const item of value) bytes += weigh(item) + 1;
  else for (const key in value) bytes += key.length * 3 + 4 + weigh((value as Record<string, unknown>)[key]);
  return bytes;
}

/** An upper bound whatever the characters are: an escaped one is six bytes, twice what `weigh` allows for. */
export const boundOf = (value: unknown): number => weigh(value) * 2;

/** Nothing in it is escaped or has more than one byte. */
const plainText = /^[ !#-[\]-~]*$/;
const encoder = new TextEncoder();

/** The bytes of a value as JSON. @throws TypeError when it is no JSON value */
export function jsonBytes(value: unknown): number {
  if (typeof value === "number") return Number.isFinite(value) ? String(value).length : 4;
  if (typeof value === "string" && value.length < 64 && plainText.test(value)) return value.length + 2;
  // What JSON has no word for is null in a list.
  return encoder.encode(JSON.stringify(value) ?? "null").length;
}
