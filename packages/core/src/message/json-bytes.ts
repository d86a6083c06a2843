/** An upper bound of the JSON bytes of a value in which no character is escaped as `\uXXXX`. Visits each node once and does not make the JSON. */
export function weigh(value: unknown): number {
  if (typeof value === "string") return value.length * 3 + 2;
  if (typeof value !== "object" || value === null) return 24;
  let bytes = 2;
  if (Array.isArray(value)) for (const item of value) bytes += weigh(item) + 1;
  else for (const key in value) bytes += key.length * 3 + 4 + weigh((value as Record<string, unknown>)[key]);
  return bytes;
}

/** An upper bound for all characters: an escaped character has six bytes, twice what `weigh` assumes. */
export const boundOf = (value: unknown): number => weigh(value) * 2;

/** No character is escaped or has more than one byte. */
const plainText = /^[ !#-[\]-~]*$/;
const encoder = new TextEncoder();

/** The number of bytes of a value as JSON. @throws TypeError when it is no JSON value */
export function jsonBytes(value: unknown): number {
  if (typeof value === "number") return Number.isFinite(value) ? String(value).length : 4;
  if (typeof value === "string" && value.length < 64 && plainText.test(value)) return value.length + 2;
  // In a list, a value without a JSON form is `null`.
  return encoder.encode(JSON.stringify(value) ?? "null").length;
}
