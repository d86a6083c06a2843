import type { AgentError } from "@loopwright/core";
import { fileError } from "./file-error.ts";
import { pathLimits } from "./file-limits.ts";

/** Names of temporary files begin so; no path may. */
export const temporaryPrefix = ".loopwright-";

const deviceName = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00B9\u00B2\u00B3])$/i;
/** Separators, drives, streams and wildcards of any platform. */
const forbiddenCharacters = /[\\:*?"<>|]/;
/** Control, format (joiners of scripts and emoji excepted), surrogates, line separators, and what broken UTF-8 becomes. */
const unreadable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\uFFFD]|(?![\u200C\u200D])\p{Cf}/u;

/**
 * The names that a path is made of, from the top, in Unicode form NFC. One rule on every platform: relative, `/` between
 * names, nothing that any system gives a meaning of its own. Nothing is decoded, so `%2e%2e` is a plain name.
 * @throws AgentError INVALID_PATH
 */
export function namesOf(path: string): readonly string[] {
  const refused = (what: string): AgentError => fileError("INVALID_PATH", path, what);
  if (path === "") throw refused("is empty.");
  if (path.length > pathLimits.charactersMax) throw refused(`is longer than ${pathLimits.charactersMax} characters.`);
  if (path.startsWith("/")) throw refused("is absolute.");
  if (path.startsWith("~")) throw refused("begins with ~.");
  const names = path.normalize("NFC").split("/");
  if (names.length > pathLimits.levelsMax) throw refused(`has more than ${pathLimits.levelsMax} levels.`);
  for (const name of names) {
    const flaw = nameFlaw(name);
    if (flaw) throw refused(flaw);
  }
  return names;
}

function nameFlaw(name: string): string | undefined {
  if (name === "") return "has an empty name in it.";
  if (unreadable.test(name)) return "has control or invisible characters in it.";
  if (forbiddenCharacters.test(name)) return 'has one of \\ : * ? " < > | in it.';
  // Some layers fold look-alikes: the two-dot leader to dots, the fullwidth solidus to a slash.
  const folded = name.normalize("NFKC");
  if (/^\.{1,2}$/.test(folded)) return "has a . or .. in it.";
  if (/[/\\]/.test(folded)) return "has a look-alike of a separator in it.";
  if (/^\s|[\s.]$/u.test(name)) return "has a name that begins with a space or ends with a space or a dot.";
  if (deviceName.test((name.split(".")[0] ?? "").trim())) return "has a name that is reserved for a device.";
  if (name.toLowerCase().startsWith(temporaryPrefix)) return `has a name that begins with ${temporaryPrefix}.`;
  if (new TextEncoder().encode(name).length > pathLimits.nameBytesMax) return `has a name of more than ${pathLimits.nameBytesMax} bytes.`;
  return undefined;
}
