import type { Json, JsonObject } from "@loopwright/core/protocol";

/** Which values of an argument a remembered decision covers, and how people call it. */
export interface PatternOption {
  readonly label: string;
  /** As the server takes it. */
  readonly matcher: JsonObject;
}

const shownMax = 60;

/** What may be chosen for a value, the narrowest first. */
export function patternOptions(value: Json): readonly PatternOption[] {
  const exact: PatternOption = { label: "exactly this", matcher: { equals: value } };
  const any: PatternOption = { label: "anything", matcher: { any: true } };
  if (typeof value !== "string") return [exact, any];
  const origin = originOf(value);
  if (origin !== undefined) return [exact, { label: `anything at ${origin.slice(0, shownMax)}`, matcher: { origin } }, any];
  return [exact, ...foldersOf(value).map((below) => ({ label: `anything in ${below.slice(-shownMax)}`, matcher: { below } })), any];
}

/** The pattern of a call, by the place of the option that was chosen for each argument; exactly the same arguments where none was. */
export function patternOf(args: JsonObject, chosen: { readonly [name: string]: number }): JsonObject {
  const matchers = Object.entries(args).map(([name, value]): readonly [string, JsonObject] => {
    const options = patternOptions(value);
    return [name, (options[chosen[name] ?? 0] ?? options[0])?.matcher ?? { equals: value }];
  });
  return { args: Object.fromEntries(matchers) };
}

/** True where the pattern would cover every call of the tool. */
export const coversAll = (args: JsonObject, chosen: { readonly [name: string]: number }): boolean =>
  Object.keys(args).length > 0 && Object.entries(args).every(([name, value]) => (chosen[name] ?? 0) === patternOptions(value).length - 1);

function originOf(text: string): string | undefined {
  const url = /^https?:\/\//.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  return url && url.username === "" && url.password === "" && text.startsWith(url.origin) ? url.origin : undefined;
}

/** The folders of a plain path, the innermost first: at most three. */
function foldersOf(text: string): readonly string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a path with them is no plain one
  if (text.length > 500 || /[\s\u0000-\u001f\\]/.test(text)) return [];
  const names = text.replace(/^\//, "").split("/");
  if (names.some((name) => name === "" || name === "." || name === "..")) return [];
  const start = text.startsWith("/") ? "/" : "";
  return names
    .slice(0, -1)
    .map((_, at) => `${start}${names.slice(0, at + 1).join("/")}/`)
    .toReversed()
    .slice(0, 3);
}
