import type { AssistantMessage, JsonObject, ResultPart, UserMessage } from "@loopwright/core";
import type { Finding, TextPlace } from "../checks/finding.ts";

/** A verdict of the guardrails on one text: for the log, and equal for the same text and policy whether it is checked live or from a log. */
export interface GuardrailVerdict {
  /** `warn`, `redact` or `block`; in shadow mode `would_redact` or `would_block`. */
  readonly action: string;
  /** Gate, tool and rules; never what was found. */
  readonly reason: string;
}

/** What has been checked, and what was found in each text. */
export interface CheckedText {
  readonly text: string;
  readonly findings: readonly Finding[];
}

/** Whether the text of a match is hidden: secrets and personal data always, also where the whole is blocked; a refused command stays to be read. */
export function isHidden({ category, action, mode }: Finding, { gate }: Pick<TextPlace, "gate">): boolean {
  if (mode === "shadow" || action === "warn" || category === "command") return false;
  return action === "redact" || category === "secret" || category === "pii" || gate !== "tool_call";
}

/** The findings that refuse the whole. */
export const blockersOf = (
  findings: readonly Pick<Finding, "action" | "mode" | "rule" | "reply">[],
): readonly Pick<Finding, "rule" | "reply">[] => findings.filter(({ action, mode }) => action === "block" && mode === "enforce");

/** One verdict for each action, with the rules in alphabetical order. */
export function verdictsOf(findings: readonly Pick<Finding, "rule" | "action" | "mode">[], place: TextPlace): readonly GuardrailVerdict[] {
  const byAction = new Map<string, Set<string>>();
  for (const { rule, action, mode } of findings) {
    const name = mode === "shadow" && action !== "warn" ? `would_${action}` : action;
    byAction.set(name, (byAction.get(name) ?? new Set()).add(rule));
  }
  return [...byAction].map(([action, rules]) => ({ action, reason: reasonOf(place, [...rules]) }));
}

/** The reason of a verdict: `tool_output of fetch: github`. */
export function reasonOf({ gate, tool }: TextPlace, rules: readonly string[]): string {
  return `${gate}${tool === undefined ? "" : ` of ${tool}`}: ${[...new Set(rules)].sort().join(", ")}`;
}

/** The texts of a user's message. */
export function textsOfInput({ content }: UserMessage): readonly string[] {
  return typeof content === "string" ? [content] : content.flatMap((part) => (part.type === "text" ? [part.text] : []));
}

/** The texts of an answer, thinking among them. */
export function textsOfAnswer({ content }: AssistantMessage): readonly string[] {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : part.type === "thinking" ? [part.text] : []));
}

/** The texts of a call's arguments, names of members among them. */
export function textsOfArguments(args: JsonObject): readonly string[] {
  const texts: string[] = [];
  const add = (value: unknown): void => {
    if (typeof value === "string") texts.push(value);
    else if (typeof value === "object" && value !== null)
      for (const [name, member] of Object.entries(value)) {
        if (!Array.isArray(value)) texts.push(name);
        add(member);
      }
  };
  add(args);
  return texts;
}

/** The text of an output, as `review` hooks get it. */
export function textOfOutput(content: string | readonly ResultPart[]): string {
  if (typeof content === "string") return content;
  return content
    .map((part) => (part.type === "text" ? part.text : part.type === "json" ? JSON.stringify(part.value) : `[${part.type}]`))
    .join("");
}
