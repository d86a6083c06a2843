import { type CanaryForm, canaryForms } from "./canary-forms.ts";
import { packedContents } from "./packed-contents.ts";

/** A text that must not be found where it does not belong. */
export interface Canary {
  /** Names it in what is found: its text is shown nowhere. */
  readonly name: string;
  readonly text: string;
  /** So many characters of its beginning or of its end are found as well. Default: the whole text alone. */
  readonly partMin?: number;
}

export interface CanaryFind {
  readonly canary: string;
  readonly form: string;
}

/** Looks at the pieces of what comes one after another. Compressed parts are not unpacked. */
export interface CanaryStream {
  /** What the piece holds, also where it began in an earlier one. */
  receive(piece: Uint8Array | string): readonly CanaryFind[];
}

export interface CanaryScanner {
  /** What the bytes hold, each canary once in each form; also in streams of gzip that begin anywhere in them, and in those in base64. A text counts as UTF-8. */
  find(bytes: Uint8Array | string): Promise<readonly CanaryFind[]>;
  stream(): CanaryStream;
}

interface Sought extends CanaryForm {
  readonly canary: string;
}

/**
 * A scanner that passes through bytes once, for all forms of all canaries: as UTF-8 and UTF-16, escaped for JSON, URLs, forms and HTML, in hexadecimal and in
 * base64, and each of the latter over each of the former.
 */
export function canaryScanner(canaries: readonly Canary[]): CanaryScanner {
  const sought = canaries.flatMap(({ name, text, partMin = text.length }) =>
    [...new Set([text, text.slice(0, partMin), text.slice(-partMin)])].flatMap((part) =>
      canaryForms(part).map((form): Sought => ({ ...form, canary: name })),
    ),
  );
  const byBeginning = groupedByBeginning(sought);
  const overlap = Math.max(0, ...sought.map(({ bytes }) => bytes.length - 1));

  const look = (bytes: Uint8Array, found: Map<string, CanaryFind>): void => {
    for (let at = 0; at + 1 < bytes.length; at++)
      for (const one of byBeginning[((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)] ?? [])
        if (standsAt(bytes, at, one.bytes)) found.set(`${one.canary} ${one.name}`, { canary: one.canary, form: one.name });
  };

  return {
    async find(bytes) {
      const own = bytesOf(bytes);
      const found = new Map<string, CanaryFind>();
      for (const part of [own, ...(await packedContents(own))]) look(part, found);
      return [...found.values()];
    },
    stream() {
      let before: Uint8Array = new Uint8Array();
      return {
        receive(piece) {
          const found = new Map<string, CanaryFind>();
          const own = bytesOf(piece);
          const whole = new Uint8Array(before.length + own.length);
          whole.set(before);
          whole.set(own, before.length);
          look(whole, found);
          before = whole.slice(Math.max(0, whole.length - overlap));
          return [...found.values()];
        },
      };
    },
  };
}

const bytesOf = (bytes: Uint8Array | string): Uint8Array => (typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes);

/** The forms by their first two bytes, so that most places of what is looked through cost one look into a table. */
function groupedByBeginning(sought: readonly Sought[]): readonly (readonly Sought[] | undefined)[] {
  const groups: Sought[][] = new Array(65_536);
  for (const one of sought) {
    const [first = 0, second = 0] = one.bytes;
    const at = (first << 8) | second;
    groups[at] = [...(groups[at] ?? []), one];
  }
  return groups;
}

function standsAt(bytes: Uint8Array, at: number, form: Uint8Array): boolean {
  if (at + form.length > bytes.length) return false;
  for (let index = 2; index < form.length; index++) if (bytes[at + index] !== form[index]) return false;
  return true;
}
