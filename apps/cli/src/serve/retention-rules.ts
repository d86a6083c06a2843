import { AgentError } from "@loopwright/core";
import { isId } from "@loopwright/core/ports";
import type { RetentionRule } from "@loopwright/host";
import { oneLine } from "../terminal/neutralise.ts";

const dayMs = 86_400_000;
const daysMax = 36_600;

/** How long the sessions of scopes are kept, from texts such as `local=90`. @throws AgentError CONFIG_INVALID for a text that is no rule, and for a scope that has two */
export function retentionRules(texts: readonly string[]): readonly RetentionRule[] {
  const rules = texts.map(ruleOf);
  const twice = rules.find(({ scope }, at) => rules.findIndex((other) => other.scope === scope) !== at);
  if (twice)
    throw new AgentError("CONFIG_INVALID", {
      message: `The scope \`${oneLine(twice.scope, 60)}\` has two retentions.`,
      fix: "Give each scope one number of days.",
    });
  return rules;
}

function ruleOf(text: string): RetentionRule {
  const at = text.lastIndexOf("=");
  const [scope, days] = [text.slice(0, Math.max(0, at)), text.slice(at + 1)];
  const isNumber = /^\d+(\.\d+)?$/.test(days) && Number(days) > 0 && Number(days) <= daysMax;
  const keepMs = Math.ceil(Number(days) * dayMs);
  if (at > 0 && isId(scope) && isNumber && keepMs >= 1_000) return { scope, keepMs };
  throw new AgentError("CONFIG_INVALID", {
    message: `The retention \`${oneLine(text, 60)}\` is no scope and a number of days.`,
    fix: `Write it as \`local=90\`, with at most ${daysMax} days.`,
  });
}
