import type { PiiKind } from "../policy/guardrail-policy.ts";
import type { Match } from "./finding.ts";

/** Characters of the longest match with spaces in it: an IBAN in groups. */
export const piiSpan = 48;

interface PiiRule {
  readonly pattern: RegExp;
  readonly isOne: (text: string) => boolean;
}

const digitsOf = (text: string): string => text.replaceAll(/\D/g, "");
const byte = "(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)";

/** Every quantifier is bounded, so that each pattern takes linear time; what a pattern cannot decide, a checksum or a parser does. */
const rules: { readonly [Kind in PiiKind]: PiiRule } = {
  email: { pattern: /[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,8}\.[A-Za-z]{2,24}/g, isOne: () => true },
  phone: {
    pattern: /(?<![\w.])(?:\+\d[\d ()./-]{6,22}\d|\(\d{3}\) ?\d{3}[ -]\d{4})(?!\d)/g,
    isOne: (text) => /^\d{8,15}$/.test(digitsOf(text)),
  },
  card: {
    pattern: /(?<![\d.])(?<!\d[ -])[2-6]\d{3}(?:[ -]?\d){9,15}(?![ -]?\d)/g,
    isOne: (text) => hasLuhn(digitsOf(text)),
  },
  iban: {
    pattern: /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])/g,
    isOne: (text) => hasMod97(text.replaceAll(" ", "")),
  },
  ip: {
    pattern: new RegExp(`(?<![\\w.:])(?:(?:${byte}\\.){3}${byte}(?![\\w]|\\.\\d)|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?![\\w:]))`, "gi"),
    isOne: (text) => (text.includes(":") ? isIpv6(text) : !/^(?:127\.|0\.)/.test(text)),
  },
};

/** The personal data of these kinds in the text. */
export function personalData(text: string, kinds: readonly PiiKind[]): readonly Match[] {
  return kinds.flatMap((kind) => {
    const { pattern, isOne } = rules[kind];
    return [...text.matchAll(pattern)]
      .filter(([found]) => isOne(found))
      .map((one) => ({ rule: kind, start: one.index, end: one.index + one[0].length }));
  });
}

/** The checksum of card numbers (ISO/IEC 7812). */
function hasLuhn(digits: string): boolean {
  if (digits.length < 13 || digits.length > 19) return false;
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at]);
    const doubled = at % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** The checksum of an IBAN (ISO 7064, mod 97-10). */
function hasMod97(iban: string): boolean {
  if (iban.length < 15 || iban.length > 34) return false;
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

function isIpv6(text: string): boolean {
  return /[0-9a-f]/i.test(text) && text !== "::1" && URL.canParse(`http://[${text}]/`);
}
