/*
 * Owns: which calls need a person, by the policy of the deployment, and which do not because a person has decided on such calls before.
 * Does not own: where decisions of a session are kept (its facts), how a decision is recorded (core), the right to decide (the server).
 */
import {
  type Access,
  AgentError,
  type ApprovalVerdict,
  type GateContext,
  type GateVerdict,
  type Hooks,
  type JsonObject,
} from "@loopwright/core";
import { systemClock } from "@loopwright/core/memory";
import type { ApprovalMemory, ApprovalRule, Clock } from "@loopwright/core/ports";
import { type ApprovalPolicy, checkedPolicy, judgeByPolicy } from "./approval-policy.ts";
import { canonicalText } from "./canonical-text.ts";
import { fitsPattern } from "./fits-pattern.ts";
import { inMemoryRules } from "./in-memory-rules.ts";
import { checkedPattern, exactPattern } from "./pattern.ts";
import type { ApprovalRuleStore } from "./rule-store.ts";

export interface ApprovalsOptions {
  /** Where rules that hold in all sessions of a user are kept. Default: in this process alone. */
  readonly rules?: ApprovalRuleStore;
  /** By tool, over what the tools themselves ask. */
  readonly policy?: ApprovalPolicy;
  /** Default: the clock of the process. */
  readonly clock?: Pick<Clock, "now">;
}

export interface Approvals {
  /** One of the `hooks` of each agent, behind those that ask; sets behind it may ask again. */
  readonly hooks: Hooks;
  /** The `approvals` of a server. */
  readonly memory: ApprovalMemory;
}

/** Names the hooks in verdicts. */
export const hookName = "approvals";

/** A decision on calls that fit a pattern. */
interface Remembered {
  readonly decision: ApprovalVerdict;
  readonly pattern: JsonObject;
  readonly words: string;
}

/**
 * The policy of a deployment on approvals, and the memory of decisions. @throws AgentError INPUT_INVALID for a pattern of the policy that is none
 * @example const { hooks, memory } = createApprovals({ rules: sqliteRules({ path: "rules.db" }), policy: { deploy: "always" } })
 */
export function createApprovals({ rules = inMemoryRules(), policy = {}, clock = systemClock }: ApprovalsOptions = {}): Approvals {
  const checked = checkedPolicy(policy);
  return { hooks: { name: hookName, gate: (context) => judge(context, { policy: checked, rules }) }, memory: memoryOf(rules, clock) };
}

/** The verdict of a policy and of earlier decisions on a call; `undefined`: as the tool and other gates ask. */
export async function judge(
  context: GateContext,
  { policy, rules }: { readonly policy: ApprovalPolicy; readonly rules: Pick<ApprovalRuleStore, "list"> },
): Promise<GateVerdict | undefined> {
  const verdict = await judgeByPolicy(policy, context);
  if (verdict && verdict.action !== "ask") return verdict;
  if (!verdict && !context.isAsked) return undefined;
  const known = [...ofSession(context), ...(await ofUser(context, rules))].filter(({ pattern }) => covers(pattern, context.call.args));
  const found = known.find(({ decision }) => decision === "deny") ?? known[0];
  if (!found) return verdict;
  return { action: found.decision === "deny" ? "deny" : "approve", reason: found.words };
}

function ofSession({ remembered, call: { name } }: GateContext): readonly Remembered[] {
  return remembered.flatMap(({ toolName, decision, pattern, by }) => {
    const words = `${by === undefined ? "A person" : `\`${by}\``} has ${done[decision]} such calls for this session.`;
    return toolName === name ? [{ decision, pattern, words }] : [];
  });
}

/** Where the rules cannot be read, a person is asked. */
async function ofUser(
  { access, call: { name }, logger }: GateContext,
  rules: Pick<ApprovalRuleStore, "list">,
): Promise<readonly Remembered[]> {
  try {
    const found = await rules.list(access, name);
    return found.map(({ id, decision, pattern }) => ({
      ...{ decision, pattern },
      words: `\`${access.user}\` has always ${done[decision]} such calls (rule ${id}).`,
    }));
  } catch (error) {
    logger.log("error", "The rules for approvals could not be read, so a person is asked.", { tool: name, error: String(error) });
    return [];
  }
}

const done: { readonly [Verdict in ApprovalVerdict]: string } = { allow: "allowed", deny: "denied" };

/** A stored pattern that this version cannot read covers nothing. */
function covers(pattern: JsonObject, args: JsonObject): boolean {
  try {
    return fitsPattern(checkedPattern(pattern), args);
  } catch {
    return false;
  }
}

function memoryOf(rules: ApprovalRuleStore, clock: Pick<Clock, "now">): ApprovalMemory {
  return {
    patternFor({ args }, asked) {
      const pattern = checkedPattern(asked ?? exactPattern(args));
      if (!fitsPattern(pattern, args))
        throw new AgentError("INPUT_INVALID", {
          message: "The pattern does not cover the call that is decided on.",
          fix: "Name every argument of the call with a matcher that fits it.",
          details: { field: "remember.pattern" },
        });
      return { args: { ...pattern.args } };
    },
    async remember(owner, draft) {
      const rule: ApprovalRule = { ...draft, id: await idOf(draft), createdAt: clock.now() };
      await rules.put(ownerOf(owner), rule);
      return rule;
    },
    list: (owner) => rules.list(ownerOf(owner)),
    forget: (owner, id) => rules.delete(ownerOf(owner), id),
  };
}

const ownerOf = ({ user, scope }: Access): Pick<Access, "user" | "scope"> => ({ user, scope });

/** The same for rules about the same calls. */
async function idOf({ toolName, pattern }: Pick<ApprovalRule, "toolName" | "pattern">): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(canonicalText([toolName, pattern])));
  return Array.from(new Uint8Array(bytes, 0, 12), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
