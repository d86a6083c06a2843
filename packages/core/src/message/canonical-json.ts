import type { Json } from "./json.ts";

/**
 * The one text of a JSON value: members sorted by name, no white space. Equal values have equal texts, in whatever order their members were written.
 * @see https://www.rfc-editor.org/rfc/rfc8785 (2026-11-21)
 */
export function canonicalJson(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(",")}}`;
}
