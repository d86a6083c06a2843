import type { Gate, GuardrailAction, GuardrailMode } from "../policy/guardrail-policy.ts";

/** A match of a rule in a text. */
export interface Finding {
  /** Id of the rule: of a pattern of one's own, or `github`, `card`, `command_substitution`, ... */
  readonly rule: string;
  readonly category: "secret" | "pii" | "prompt_injection" | "command" | "rule";
  /** Positions in the text. */
  readonly start: number;
  readonly end: number;
  readonly action: GuardrailAction;
  readonly mode: GuardrailMode;
  /** What is answered in place of what was blocked. */
  readonly reply?: string | undefined;
}

/** The part of a text that a rule has found. */
export type Match = Pick<Finding, "rule" | "start" | "end">;

/** Where a text stands. */
export interface TextPlace {
  readonly gate: Gate;
  /** The tool of a call or an output. */
  readonly tool?: string | undefined;
}

/** What stands in place of a match. No rule ever looks into one. */
export const placeholderOf = (rule: string): string => `[redacted:${rule}]`;

const placeholders = /\[redacted:[a-z0-9_-]{1,64}\]/g;

/** The matches that are not inside a placeholder: one that only touches it may be a secret with a placeholder written into it. */
export function besidePlaceholders<Found extends Match>(text: string, matches: readonly Found[]): readonly Found[] {
  if (matches.length === 0 || !text.includes("[redacted:")) return matches;
  const taken = [...text.matchAll(placeholders)].map((one) => ({ start: one.index, end: one.index + one[0].length }));
  return matches.filter(({ start, end }) => !taken.some((one) => start >= one.start && end <= one.end));
}

/** The text with a placeholder in place of each finding; where several overlap, the first one names the rule. */
export function redact(text: string, findings: readonly Match[]): string {
  if (findings.length === 0) return text;
  let shown = "";
  let at = 0;
  for (const { rule, start, end } of findings.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (start >= at) shown += text.slice(at, start) + placeholderOf(rule);
    at = Math.max(at, end);
  }
  return shown + text.slice(at);
}
