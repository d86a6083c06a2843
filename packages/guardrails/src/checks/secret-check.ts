/*
 * Owns: which parts of a text are secrets, and how much of the end of a text may be the beginning of one.
 * Does not own: what becomes of them (the policy). The rules of secretlint know the keys of vendors; beside them stand private keys that are not
 * complete, tokens that they lack, and words in base64.
 */
import type { Match } from "./finding.ts";

/** The matches: a promise only where the text could have a secret. */
export type SecretCheck = (text: string) => readonly Match[] | Promise<readonly Match[]>;

/** Texts longer than this are looked at in pieces that overlap by more than the longest token. */
const pieceMax = 32 * 1024;
const overlap = 4 * 1024;

/** Every secret has a word of at least so many characters. */
const candidate = /[!-~]{16}/;
/** Tokens that the rules of secretlint do not know. */
const ownTokens: readonly (readonly [rule: string, pattern: RegExp])[] = [
  ["google", /(?<![A-Za-z0-9_-])AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/g],
  ["telegram", /(?<![A-Za-z0-9])\d{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/g],
];
const keyBegins = "-----BEGIN";
const keyHead = /-----BEGIN[A-Z ]{0,24}PRIVATE KEY(?: BLOCK)?-----/g;
const keyTail = /-----END[A-Z ]{0,24}PRIVATE KEY(?: BLOCK)?-----/g;
const encoded = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,4096}={0,2}/g;
/** Directives of secretlint would switch its rules off: a tool's output must not. */
const directive = /secretlint-/gi;

const secretlint = async (): Promise<(text: string) => Promise<readonly Match[]>> => {
  const [{ lintSource }, { creator }] = await Promise.all([
    import("@secretlint/core"),
    import("@secretlint/secretlint-rule-preset-recommend"),
  ]);
  const id = "@secretlint/secretlint-rule-preset-recommend";
  // Ids of access keys are no secrets by themselves, but name an account, and stand beside the key.
  const rules = [{ id, rule: creator, rules: [{ id: "@secretlint/secretlint-rule-aws", options: { enableIDScanRule: true } }] }];
  return async (text) => {
    const source = { content: text.replace(directive, "secretlint_"), filePath: "/text.txt", ext: ".txt", contentType: "text" } as const;
    const { messages } = await lintSource({ source, options: { noPhysicFilePath: true, config: { rules } } });
    return messages.map(({ ruleId = id, range: [start, end] }) => ({ rule: ruleId.replace(/^.*secretlint-rule-/, ""), start, end }));
  };
};

/** The check; the rules of secretlint are loaded with the first text that needs them. */
export function secretCheck(): SecretCheck {
  let loaded: ReturnType<typeof secretlint> | undefined;
  return (text) => {
    if (!candidate.test(text) && !text.includes(keyBegins)) return [];
    loaded ??= secretlint();
    return loaded.then((lint) => inPieces(text, lint));
  };
}

async function inPieces(text: string, lint: (text: string) => Promise<readonly Match[]>): Promise<readonly Match[]> {
  const found: Match[] = [...privateKeys(text)];
  for (let from = 0; from === 0 || from + overlap < text.length; from += pieceMax - overlap) {
    const piece = text.slice(from, from + pieceMax);
    const inPiece = [...(await lint(piece)), ...ownIn(piece), ...(await encodedIn(piece, lint))];
    found.push(...inPiece.map(({ rule, start, end }) => ({ rule, start: start + from, end: end + from })));
  }
  return found;
}

function ownIn(text: string): readonly Match[] {
  return ownTokens.flatMap(([rule, pattern]) =>
    [...text.matchAll(pattern)].map((one) => ({ rule, start: one.index, end: one.index + one[0].length })),
  );
}

/** From its head to its end, or to the end of the text: a key that was cut off is one all the same. */
function privateKeys(text: string): readonly Match[] {
  if (!text.includes(keyBegins)) return [];
  const ends = [...text.matchAll(keyTail)].map((one) => one.index + one[0].length);
  return [...text.matchAll(keyHead)].map(({ index: start }) => ({
    rule: "privatekey",
    start,
    end: ends.find((end) => end > start) ?? text.length,
  }));
}

/** Words in base64 that hold a secret. */
async function encodedIn(text: string, lint: (text: string) => Promise<readonly Match[]>): Promise<readonly Match[]> {
  const words = [...text.matchAll(encoded)].flatMap((one) => {
    const decoded = decodedFrom(one[0]);
    return decoded === undefined ? [] : [{ start: one.index, end: one.index + one[0].length, decoded }];
  });
  if (words.length === 0) return [];
  // One look at all of them: each on a line of its own.
  const lines = words.map(({ decoded }) => decoded);
  const matches = [...(await lint(lines.join("\n"))), ...ownIn(lines.join("\n"))];
  let from = 0;
  return words.flatMap(({ start, end, decoded }) => {
    const [first, last] = [from, from + decoded.length];
    from = last + 1;
    const match = matches.find((one) => one.start >= first && one.start < last);
    return match ? [{ rule: match.rule, start, end }] : [];
  });
}

/** The words of a text in base64; `undefined` for what is no readable text. */
function decodedFrom(word: string): string | undefined {
  try {
    const decoded = atob(word.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, ""));
    return /^[\t\n\r -~]{16,}$/.test(decoded) ? decoded.replaceAll(/[\r\n]/g, " ") : undefined;
  } catch {
    return undefined;
  }
}

/** Characters of an unfinished private key that are held back. */
const keyHeldMax = 12 * 1024;
const wordHeldMax = 4 * 1024;
/** A name that a rule looks for before a value: the two must not be parted. */
const named = /[\w-]{0,24}(?:secret|access|account|key|token|auth|pass(?:word)?)[\w"'-]{0,24}\s{0,8}(?:=>|:=|[:=])?\s{0,8}["']?$/i;

/** How many characters at the end of a text could be the beginning of a secret. */
export function secretTail(text: string): number {
  const head = text.lastIndexOf(keyBegins);
  const isOpen = head >= 0 && text.length - head <= keyHeldMax && !/-----END[A-Z ]{0,40}-----/.test(text.slice(head));
  const word = wordAtEnd(text);
  const before = text.slice(Math.max(0, text.length - word - 80), text.length - word);
  const name = named.exec(before)?.[0].length ?? 0;
  return Math.max(isOpen ? text.length - head : 0, word + name);
}

const ofWord = /[!-~\u00ad\u200b-\u200f\u2060-\u2064\ufeff\uff01-\uff5e]/;

/** Characters of the word that the text ends with. A loop: a pattern that is bound to the end would look from every place of it. */
function wordAtEnd(text: string): number {
  let length = 0;
  while (length < Math.min(text.length, wordHeldMax) && ofWord.test(text.charAt(text.length - 1 - length))) length += 1;
  return length;
}
