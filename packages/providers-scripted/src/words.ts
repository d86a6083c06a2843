/** The parts of a message that arguments can be made of. Each field is computed once, when it is first read. */
export interface Words {
  readonly text: string;
  /** In lower case, in order. */
  readonly words: readonly string[];
  /** The first text in quotation marks or backticks. */
  readonly quoted: string | undefined;
  /** The first thing that looks like a file, for example `notes.md`. */
  readonly fileName: string | undefined;
  /** The first arithmetic expression with at least one operator. */
  readonly expression: string | undefined;
  readonly numbers: readonly number[];
  readonly url: string | undefined;
  /** A place after `in`, `at` or `for`, for example `New York`. */
  readonly place: string | undefined;
  /** An IANA time zone, written out or that of the place. */
  readonly timeZone: string | undefined;
}

/** Reads a message without understanding it. */
export function readWords(text: string): Words {
  const place = /\b(?:in|at|for)\s+(\p{Lu}[\p{L}'-]+(?:\s+\p{Lu}[\p{L}'-]+)*)/u.exec(text)?.[1];
  return {
    text,
    words: text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [],
    quoted: /["“`]([^"”`]+)["”`]/.exec(text)?.[1],
    fileName: /[\w/-]+(?:\.[\w-]+)*\.[a-z][a-z0-9]{0,5}\b/i.exec(text.replace(/https?:\S+/g, ""))?.[0],
    expression: expressionIn(text),
    numbers: (text.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number),
    url: /https?:\/\/[^\s"'`<>)]+/.exec(text)?.[0],
    place,
    timeZone: /\b(?:[A-Z][A-Za-z]+\/[A-Z][A-Za-z_]+|UTC)\b/.exec(text)?.[0] ?? zoneOf(place),
  };
}

function expressionIn(text: string): string | undefined {
  const plain = text.replaceAll("×", "*").replaceAll("÷", "/");
  for (const found of plain.match(/[(\-+]*\d[\d\s.+\-*/^%()]*[\d)]/g) ?? []) {
    if (/[\d)]\s*[+\-*/^%]/.test(found) && !/^\d+-\d+-\d+$/.test(found)) return found.trim();
  }
  return undefined;
}

function zoneOf(place: string | undefined): string | undefined {
  if (place === undefined) return undefined;
  const ending = `/${place.replaceAll(" ", "_")}`;
  return Intl.supportedValuesOf("timeZone").find((zone) => zone.endsWith(ending));
}
