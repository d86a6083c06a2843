/** A part of a text that is to be replaced, and the rule that found it. */
export interface FoundText {
  readonly rule: string;
  readonly start: number;
  readonly end: number;
}

interface Placeheld {
  readonly rule: string;
  /** Its number among the texts of its rule, from 1. */
  readonly number: number;
}

/** The texts that a log must not show, and what stands in their place: wherever the same text stands, the same placeholder. */
export class FoundTexts {
  readonly #byText = new Map<string, Placeheld>();
  readonly #countOf = new Map<string, number>();
  /** How each text may be written, and the pattern of all of them. */
  #forms: { readonly pattern: RegExp; readonly of: ReadonlyMap<string, Placeheld> } | undefined;

  /** Takes in what was found in a text. Of parts that overlap, the first one names the rule of both. */
  add(text: string, found: readonly FoundText[]): void {
    let open: FoundText | undefined;
    for (const part of found.filter(({ start, end }) => end > start).toSorted((a, b) => a.start - b.start || b.end - a.end)) {
      if (open && part.start < open.end) {
        open = { ...open, end: Math.max(open.end, part.end) };
        continue;
      }
      if (open) this.#take(open.rule, text.slice(open.start, open.end));
      open = part;
    }
    if (open) this.#take(open.rule, text.slice(open.start, open.end));
  }

  /** What stands in place of a text that is replaced as a whole. */
  placeholderOf(rule: string, text: string): string {
    return placeholder(this.#take(rule, text));
  }

  /** The text with a placeholder in place of each found text, as it stands or escaped for JSON or for an address. */
  replaced(text: string, onReplaced: (placeholder: string) => void): string {
    this.#forms ??= formsOf(this.#byText);
    const { pattern, of } = this.#forms;
    return text.replace(pattern, (form) => {
      const held = of.get(form);
      if (!held) return form;
      onReplaced(placeholder(held));
      return placeholder(held);
    });
  }

  /** The number of a text that was found, among those of its rule; `undefined`: it was not. */
  numberOf(text: string): number | undefined {
    return this.#byText.get(text)?.number;
  }

  #take(rule: string, text: string): Placeheld {
    const known = this.#byText.get(text);
    if (known) return known;
    const held = { rule, number: (this.#countOf.get(rule) ?? 0) + 1 };
    this.#countOf.set(rule, held.number);
    this.#byText.set(text, held);
    this.#forms = undefined;
    return held;
  }
}

/** No rule of `@loopwright/guardrails` looks into one. */
const placeholder = ({ rule, number }: Placeheld): string => `[redacted:${rule}-${number}]`;

function formsOf(texts: ReadonlyMap<string, Placeheld>): { readonly pattern: RegExp; readonly of: ReadonlyMap<string, Placeheld> } {
  const of = new Map<string, Placeheld>();
  for (const [text, held] of texts) {
    const escaped = JSON.stringify(text).slice(1, -1);
    for (const form of [text, escaped, ...(text.isWellFormed() ? [encodeURIComponent(text)] : [])]) if (!of.has(form)) of.set(form, held);
  }
  // The longest first, so that no part of a longer text is left.
  const sorted = [...of.keys()].sort((a, b) => b.length - a.length);
  const words = sorted.map((form) => form.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return { pattern: sorted.length === 0 ? /(?!)/g : new RegExp(words.join("|"), "g"), of };
}
