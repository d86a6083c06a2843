import type { Match } from "./finding.ts";

/** What a command must not have, by the id of its rule. Gaps are bounded, so that each pattern takes linear time. */
const signs: readonly (readonly [rule: string, pattern: RegExp])[] = [
  ["command_substitution", /\$\([^)]{0,200}\)|`[^`]{1,200}`|\$\{[^}]{1,80}\}/g],
  ["command_chain", /(?:;|&&|\|\||(?<!\|)\|(?!\|))\s{0,8}[A-Za-z./][\w./-]{0,60}/g],
  ["command_redirect", />{1,2}\s{0,8}(?:\/|~|\.\.)[\w./-]{1,120}/g],
  [
    "command_destructive",
    /\brm\s{1,8}-[a-z]{0,8}[rf][a-z]{0,8}\b|\bmkfs(?:\.\w{1,8})?\b|\bdd\b.{0,80}\bof=\/dev\/|:\(\)\s{0,4}\{|\bshutdown\b|\breboot\b/gi,
  ],
  ["command_pipe_to_shell", /\b(?:curl|wget)\b.{0,200}\|\s{0,8}(?:sudo\s{1,8})?(?:ba|z|da)?sh\b|\bbase64\b.{0,80}\|\s{0,8}(?:ba)?sh\b/gi],
  ["command_reverse_shell", /\/dev\/(?:tcp|udp)\/|\bnc\b.{0,60}\s-[a-z]{0,6}e\b/gi],
  ["command_credentials", /\/etc\/(?:shadow|sudoers)\b|\.ssh\/id_\w{1,20}|\.aws\/credentials\b|\/proc\/(?:self|\d{1,7})\/environ\b/gi],
];

/** What is dangerous in the text of a command. */
export function dangerousCommands(text: string): readonly Match[] {
  return signs.flatMap(([rule, pattern]) =>
    [...text.matchAll(pattern)].map((one) => ({ rule, start: one.index, end: one.index + one[0].length })),
  );
}
