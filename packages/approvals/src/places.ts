import { ruleLimits } from "./rule-store.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are refused
const odd = /[\u0000-\u001f\u007f\\]/;

const isPlain = (value: unknown): value is string => typeof value === "string" && value.length <= ruleLimits.textMax && !odd.test(value);

/** True for names that lie where they seem to: no segment is empty, `.` or `..`. */
function areNames(segments: readonly string[]): boolean {
  return segments.length > 0 && segments.every((segment) => segment !== "" && segment !== "." && segment !== "..");
}

/** A folder as a pattern may name it; not the root. */
export const isFolder = (value: unknown): value is string =>
  isPlain(value) && value.endsWith("/") && areNames(value.replace(/^\//, "").slice(0, -1).split("/"));

/** True if the value is a path of something below the folder. */
export const isBelow = (value: unknown, folder: string): boolean =>
  isPlain(value) && value.startsWith(folder) && areNames(value.slice(folder.length).replace(/\/$/, "").split("/"));

/** Scheme, host and port of an address on the web. */
export function isOrigin(value: unknown): value is string {
  return isPlain(value) && /^https?:\/\/[a-z0-9.:[\]-]+$/.test(value) && originOf(value) === value;
}

/** True if the value is an address of this origin, written so that every reader finds the same host in it. */
export function isOfOrigin(value: unknown, origin: string): boolean {
  if (!isPlain(value) || !value.startsWith(origin) || /\s/.test(value)) return false;
  return ["", "/", "?", "#"].includes(value.charAt(origin.length)) && originOf(value) === origin;
}

function originOf(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.username === "" && url.password === "" ? url.origin : undefined;
}
