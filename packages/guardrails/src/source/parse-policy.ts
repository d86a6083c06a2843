import { AgentError, refuseUnknownOptions } from "@loopwright/core";
import type { z } from "zod";
import { checkPattern } from "../checks/pattern-check.ts";
import { type GuardrailPolicy, policyLimits, policyMembers, policyParts, policySchema } from "../policy/guardrail-policy.ts";

/** The policy that holds where there is none: secrets are redacted everywhere. */
export const defaultPolicy: GuardrailPolicy = { version: 1 };

/** The policy in a JSON text. `source` names it in errors. @throws AgentError CONFIG_INVALID */
export function parsePolicy(text: string, source: string): GuardrailPolicy {
  if (text.length > policyLimits.textMax) throw invalid(source, `has more than ${policyLimits.textMax} characters`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid(source, "is no JSON");
  }
  return checkPolicy(value, source);
}

/** The value as a policy, with every pattern compiled once. @throws AgentError CONFIG_INVALID that names the member, and its nearest name where it is unknown */
export function checkPolicy(value: unknown, source: string): GuardrailPolicy {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid(source, "is no JSON object");
  refuseUnknown(value, source);
  const parsed = policySchema.safeParse(value);
  if (!parsed.success) throw invalid(source, firstFault(parsed.error.issues));
  const policy = parsed.data;
  const ids = new Set<string>();
  for (const rule of policy.rules ?? []) {
    if (ids.has(rule.id)) throw invalid(source, `has two rules with the id \`${rule.id}\``);
    ids.add(rule.id);
    const flaw = checkPattern(rule);
    if (flaw !== undefined) throw invalid(source, `has the rule \`${rule.id}\`, whose pattern cannot be used: ${flaw}`);
  }
  return policy;
}

function refuseUnknown(value: object, source: string): void {
  const known = (names: readonly string[]): Readonly<Record<string, true>> =>
    Object.fromEntries(names.map((name) => [name, true] as const));
  refuseUnknownOptions({ ...value }, known(policyMembers), source);
  for (const [name, schema] of Object.entries(policyParts)) {
    const part = (value as Readonly<Record<string, unknown>>)[name];
    const members: readonly unknown[] = Array.isArray(part) ? part : [part];
    for (const [at, member] of members.entries())
      if (typeof member === "object" && member !== null)
        refuseUnknownOptions(
          { ...member },
          known(Object.keys(schema.shape)),
          `\`${name}${Array.isArray(part) ? `[${at}]` : ""}\` of ${source}`,
        );
  }
}

function firstFault(issues: readonly z.core.$ZodIssue[]): string {
  const [issue] = issues;
  // A union reports what each of its members missed: the last one is the settings, the first one `false`.
  if (issue?.code === "invalid_union") {
    const inner = issue.errors.at(-1)?.[0];
    if (inner) return firstFault([{ ...inner, path: [...issue.path, ...inner.path] }]);
  }
  const place = (issue?.path ?? []).map(String).join(".");
  return `has a wrong value${place === "" ? "" : ` at \`${place}\``}: ${issue?.message ?? "unknown"}`;
}

const invalid = (source: string, what: string): AgentError =>
  new AgentError("CONFIG_INVALID", {
    message: `The guardrails in ${source} cannot be used: it ${what}.`,
    fix: "Correct it; docs/guardrails.md lists every member. `loopwright guardrails check` reads it without a start.",
  });
