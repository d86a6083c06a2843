import type { Match } from "./finding.ts";

/** Characters of the longest match. */
export const injectionSpan = 160;

/** How strongly each sign speaks for words that are meant as instructions. Gaps are bounded, so that each pattern takes linear time. */
const signs: readonly (readonly [weight: number, pattern: RegExp])[] = [
  [
    1,
    /\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|earlier|above|all|your)\b.{0,40}\b(?:instructions?|prompts?|rules|guidelines)\b/gi,
  ],
  [1, /\b(?:reveal|print|repeat|show|output)\b.{0,30}\b(?:system|hidden|initial|developer)\b.{0,10}\b(?:prompt|message|instructions?)\b/gi],
  [1, /<\/?(?:system|assistant|tool_result|approval)\b[^<>]{0,40}>|\[\/?(?:INST|SYSTEM)\]|<\|im_(?:start|end)\|>/gi],
  [0.6, /\byou are (?:now|no longer)\b.{0,60}/gi],
  [0.6, /\b(?:do not|don't|never) (?:tell|inform|mention|reveal)\b.{0,30}\b(?:user|human|anyone)\b/gi],
  [0.6, /\b(?:developer|debug|god|jailbreak|dan) mode\b/gi],
  [0.6, /"role"\s{0,4}:\s{0,4}"(?:system|developer)"/gi],
  [0.4, /\b(?:send|post|upload|forward|exfiltrate)\b.{0,40}\b(?:to|at)\b.{0,10}https?:\/\/\S{1,60}/gi],
  [0.4, /\bnew instructions?\b/gi],
];

/** The signs in the text, where their weights reach the threshold together; each sign counts once. */
export function injectedPrompts(text: string, threshold: number): readonly Match[] {
  const matches: Match[] = [];
  let score = 0;
  for (const [weight, pattern] of signs) {
    const found = [...text.matchAll(pattern)];
    if (found.length > 0) score += weight;
    matches.push(...found.map((one) => ({ rule: "prompt_injection", start: one.index, end: one.index + one[0].length })));
  }
  return score >= threshold ? matches : [];
}
