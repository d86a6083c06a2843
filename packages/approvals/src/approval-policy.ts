import type { GateContext, GateVerdict } from "@loopwright/core";
import { fitsPattern } from "./fits-pattern.ts";
import { type ApprovalPattern, checkedPattern } from "./pattern.ts";

/**
 * When calls of a tool need approval: never, whatever the tool itself asks; always; always but for calls that fit one of the patterns; or as a
 * function decides, with true to ask, false to leave it to the tool, or a verdict.
 */
export type ToolPolicy =
  | "never"
  | "always"
  | { readonly unless: readonly ApprovalPattern[]; readonly timeoutMs?: number; readonly reason?: string }
  | ((context: GateContext) => GateVerdict | boolean | Promise<GateVerdict | boolean>);

/** By the name of the tool; tools without an entry ask as they are made. */
export interface ApprovalPolicy {
  readonly [toolName: string]: ToolPolicy;
}

/** The policy with its patterns checked. @throws AgentError INPUT_INVALID */
export function checkedPolicy(policy: ApprovalPolicy): ApprovalPolicy {
  for (const entry of Object.values(policy)) if (typeof entry === "object") for (const pattern of entry.unless) checkedPattern(pattern);
  return policy;
}

/** The verdict of the policy on a call; `undefined`: it has none. */
export async function judgeByPolicy(policy: ApprovalPolicy, context: GateContext): Promise<GateVerdict | undefined> {
  const { name, args } = context.call;
  const entry = Object.hasOwn(policy, name) ? policy[name] : undefined;
  if (entry === undefined) return undefined;
  if (entry === "always") return { action: "ask" };
  if (entry === "never")
    return context.isAsked ? { action: "approve", reason: "The policy of the deployment allows calls of this tool." } : undefined;
  if (typeof entry === "object") {
    const { unless, ...asking } = entry;
    if (!unless.some((pattern) => fitsPattern(pattern, args))) return { action: "ask", ...asking };
    return context.isAsked ? { action: "approve", reason: "The policy of the deployment allows calls with these arguments." } : undefined;
  }
  const verdict = await entry(context);
  if (typeof verdict === "object") return verdict;
  return verdict ? { action: "ask" } : undefined;
}
