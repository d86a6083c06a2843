import type { Agent } from "../../agent/agent.ts";
import type { GateContext, GateVerdict } from "../../agent/hooks.ts";
import { AgentError } from "../../errors.ts";
import type { JsonObject } from "../../message/json.ts";

/** What all gates together say of a call. */
export type GateJudgement =
  | { readonly action: "deny"; readonly reason: string }
  /** `args`: as they were edited; absent where none did. */
  | { readonly action: "allow"; readonly args?: JsonObject }
  | { readonly action: "ask"; readonly args?: JsonObject; readonly timeoutMs?: number; readonly reason?: string };

type Ask = Extract<GateVerdict, { readonly action: "ask" }>;

/**
 * Asks the gates in their order. The first denial decides, also over an `ask` before it; edits pass from gate to gate; of several that ask the
 * shortest wait counts, and all their reasons.
 * @throws AgentError CONFIG_INVALID when a gate gives what is no verdict; and what a gate throws
 */
export async function askGates(agent: Agent, context: GateContext): Promise<GateJudgement> {
  let { call } = context;
  const asks: Ask[] = [];
  for (const { gate } of agent.hooks) {
    const verdict = await gate?.({ ...context, call });
    switch (verdict?.action) {
      case undefined:
      case "allow":
        break;
      case "edit":
        call = { ...call, args: verdict.args };
        break;
      case "deny":
        return { action: "deny", reason: verdict.reason };
      case "ask":
        asks.push(checked(verdict));
        break;
      default:
        throw invalid("A gate gave an unknown verdict.", "Return allow, edit, deny or ask.", verdict satisfies never);
    }
  }
  const edited = call === context.call ? {} : { args: call.args };
  return asks.length === 0 ? { action: "allow", ...edited } : { action: "ask", ...edited, ...joined(asks) };
}

function checked(ask: Ask): Ask {
  const { timeoutMs } = ask;
  if (timeoutMs === undefined || (Number.isFinite(timeoutMs) && timeoutMs > 0)) return ask;
  throw invalid("A gate asked with a `timeoutMs` that is not positive.", "Leave it out to wait for ever.");
}

function joined(asks: readonly Ask[]): Pick<Ask, "timeoutMs" | "reason"> {
  const timeouts = asks.flatMap(({ timeoutMs }) => timeoutMs ?? []);
  const reasons = asks.flatMap(({ reason }) => reason ?? []);
  return {
    ...(timeouts.length > 0 ? { timeoutMs: Math.min(...timeouts) } : {}),
    ...(reasons.length > 0 ? { reason: [...new Set(reasons)].join("; ") } : {}),
  };
}

const invalid = (message: string, fix: string, _?: never): AgentError => new AgentError("CONFIG_INVALID", { message, fix });
