import { RE2JS } from "re2js";
import type { PatternRule } from "../policy/guardrail-policy.ts";
import type { Match } from "./finding.ts";

type GivenPattern = Pick<PatternRule, "id" | "pattern" | "ignoreCase">;

/** Why the pattern cannot be used; `undefined`: it can. */
export function checkPattern(rule: GivenPattern): string | undefined {
  try {
    if (!compile(rule).test("")) return undefined;
    return "it matches the empty text, and so every text";
  } catch (error) {
    const words = error instanceof Error ? error.message.slice(0, 200) : "unknown error";
    return `${words} (the syntax is that of RE2, without lookaround and backreferences)`;
  }
}

const compile = ({ pattern, ignoreCase = false }: GivenPattern): RE2JS => RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);

/** Finds a pattern in linear time, whatever the pattern and the text are. */
export function patternCheck(rule: GivenPattern): (text: string) => readonly Match[] {
  const compiled = compile(rule);
  return (text) => {
    // The automaton that only answers yes or no is several times faster.
    if (!compiled.test(text)) return [];
    const matches: Match[] = [];
    const matcher = compiled.matcher(text);
    while (matcher.find()) {
      const [start, end] = [matcher.start(), matcher.end()];
      if (end > start) matches.push({ rule: rule.id, start, end });
    }
    return matches;
  };
}
