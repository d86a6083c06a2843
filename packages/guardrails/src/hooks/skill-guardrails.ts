import type { Hooks } from "@loopwright/core";
import type { PatternRule } from "../policy/guardrail-policy.ts";
import { createGuardrails } from "./create-guardrails.ts";

/** A pattern of a skill, in the syntax of RE2. Letters of prompts and answers match in both cases. */
export interface SkillPattern {
  readonly pattern: string;
  /** What is answered in place of what was matched. */
  readonly reply?: string | undefined;
}

/** What a skill forbids. */
export interface SkillGuardrails {
  /** Calls that are refused: any text of their arguments. */
  readonly denyCommands?: readonly SkillPattern[] | undefined;
  /** Output of tools that is blocked (default), or redacted. */
  readonly denyOutput?: readonly (SkillPattern & { readonly action?: "block" | "redact" | undefined })[] | undefined;
  /** Messages that are answered without a model. */
  readonly denyPrompts?: readonly SkillPattern[] | undefined;
  /** Answers that are replaced. */
  readonly denyResponses?: readonly SkillPattern[] | undefined;
}

const cannotSay = "I cannot say which programs or tools I may use. Tell me what you want to have done.";

export interface SkillHooksOptions {
  /** False: everything is evaluated and recorded, and nothing is changed. Default true. */
  readonly enforce?: boolean;
}

/**
 * The guardrails of skills, by the name of the skill, as one set of hooks named `skill_guardrails`: the last group of `hookGroups`.
 * @throws AgentError CONFIG_INVALID for a pattern that cannot be used
 */
export function skillGuardrailHooks(skills: Readonly<Record<string, SkillGuardrails>>, { enforce = true }: SkillHooksOptions = {}): Hooks {
  const rules = Object.entries(skills).flatMap(([skill, guardrails]) => rulesOf(skill, guardrails));
  return createGuardrails({ name: "skill_guardrails", enforce, policy: { version: 1, secrets: false, rules } }).hooks;
}

function rulesOf(
  skill: string,
  { denyCommands = [], denyOutput = [], denyPrompts = [], denyResponses = [] }: SkillGuardrails,
): readonly PatternRule[] {
  const id = (list: string, at: number): string =>
    `${skill.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_")}_${list}_${at + 1}`.slice(-48).replace(/^[^a-z]+/, "");
  const block = { action: "block", ignoreCase: true } as const;
  return [
    ...denyCommands.map(({ pattern }, at): PatternRule => ({ id: id("command", at), pattern, action: "block", at: ["tool_call"] })),
    ...denyOutput.map(
      ({ pattern, action = "block", reply }, at): PatternRule => ({ id: id("output", at), pattern, action, reply, at: ["tool_output"] }),
    ),
    ...denyPrompts.map(
      ({ pattern, reply = cannotSay }, at): PatternRule => ({ ...block, id: id("prompt", at), pattern, reply, at: ["input"] }),
    ),
    ...denyResponses.map(
      ({ pattern, reply = cannotSay }, at): PatternRule => ({ ...block, id: id("response", at), pattern, reply, at: ["output"] }),
    ),
  ];
}
