import { compilePolicy } from "../checks/compile-policy.ts";
import type { Match } from "../checks/finding.ts";
import type { GuardrailPolicy } from "../policy/guardrail-policy.ts";
import { checkPolicy } from "./parse-policy.ts";

/** What counts as sensitive, as in a policy. */
export type SensitiveTextsOptions = Pick<GuardrailPolicy, "secrets" | "pii" | "rules">;

/**
 * Finds what a text must not show: secrets and personal data, unless `false` or `kinds` leave some out, and the patterns of `rules`, wherever the text stands. Modes and gates of a
 * policy do not matter, so that a policy may be given as it is. @throws AgentError CONFIG_INVALID for a pattern that cannot be used
 */
export function sensitiveTexts({ secrets, pii, rules = [] }: SensitiveTextsOptions = {}): (text: string) => Promise<readonly Match[]> {
  const policy: GuardrailPolicy = {
    version: 1,
    ...(secrets === false ? { secrets } : {}),
    pii: pii === false ? false : { ...(pii?.kinds ? { kinds: pii.kinds } : {}) },
    rules: rules.map(({ id, pattern, ignoreCase }) => ({ id, pattern, ...(ignoreCase === undefined ? {} : { ignoreCase }) })),
  };
  const compiled = compilePolicy(checkPolicy(policy, "the rules"));
  return async (text) => (await compiled.check(text, { gate: "input" })).map(({ rule, start, end }) => ({ rule, start, end }));
}
