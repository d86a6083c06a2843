import type { Json } from "@loopwright/core/protocol";

/** The name of a host that a person may mistake for another one. */
export interface DoubtfulHost {
  /** As it is written; may hold any character. */
  readonly written: string;
  /** The host that a program asks: ASCII alone. Absent where it is none. */
  readonly real?: string;
  /**
   * `scripts`: letters of several alphabets in one word. `letters`: others than a to z. `encoded`: written as `xn--`, shown as other letters elsewhere.
   * `name`: something that looks like a host stands before the real one, with an `@` between.
   */
  readonly why: "scripts" | "letters" | "encoded" | "name";
}

/** Most characters searched, and most hosts reported. */
const limits = { charactersMax: 2_000_000, hostsMax: 20 } as const;

const authorities = /\b[a-z][a-z0-9+.-]*:[/\\]{2,}([^\s/?#"'<>\\`]+)|@([^\s/?#"'<>\\`@:]+)/giu;
const words = /[\p{L}\p{N}\p{Mn}-]+(?:\.[\p{L}\p{N}\p{Mn}-]+)+/gu;
const alphabets = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Armenian}/u, /\p{Script=Cherokee}/u];
const isAscii = /^[!-~]*$/;

/** The hosts in these arguments that a person may mistake for others, each once, in the order in which they appear. */
export function doubtfulHosts(value: Json): readonly DoubtfulHost[] {
  const text = JSON.stringify(value).slice(0, limits.charactersMax);
  const found = new Map<string, DoubtfulHost>();
  const notify = (written: string, why: DoubtfulHost["why"] | undefined, host = written): void => {
    if (why === undefined || found.has(written) || found.size === limits.hostsMax) return;
    const real = realOf(host);
    found.set(written, { written, why, ...(real === undefined ? {} : { real }) });
  };
  for (const [, authority, afterName] of text.matchAll(authorities)) {
    const full = authority ?? afterName ?? "";
    const at = full.lastIndexOf("@");
    const host = full.slice(at + 1).replace(/:\d*$/, "");
    if (full.slice(0, Math.max(0, at)).includes(".")) notify(full, "name", host);
    else notify(host, doubtOf(host));
  }
  for (const [word] of text.matchAll(words)) {
    const why = doubtOf(word);
    // Names of files may have any letters; two alphabets in one word they have not.
    if (why === "scripts" || why === "encoded") notify(word, why);
  }
  return [...found.values()];
}

function doubtOf(host: string): DoubtfulHost["why"] | undefined {
  const labels = host.split(".");
  if (labels.some((label) => alphabets.filter((alphabet) => alphabet.test(label)).length > 1)) return "scripts";
  if (!isAscii.test(host)) return "letters";
  return labels.some((label) => /^xn--/i.test(label)) ? "encoded" : undefined;
}

function realOf(host: string): string | undefined {
  try {
    return new URL(`http://${host}`).hostname;
  } catch {
    return undefined;
  }
}
