import type { Agent } from "../../agent/agent.ts";
import type { GateContext, GateHookVerdict } from "../../agent/hooks.ts";
import { AgentError } from "../../errors.ts";
import type { JsonObject } from "../../message/json.ts";
import type { GateVerdict, Tool } from "../../tools/tool.ts";
import type { EffectContext } from "../effects/hook-deps.ts";
import { type HookRunner, hookPlace } from "../effects/hook-runner.ts";

/** The call before the gates. */
export type GatedCall = Pick<GateContext, "call" | "calls" | "tool">;

/** The combined verdict of all gates. */
export type GateJudgement =
  | { readonly action: "deny"; readonly reason: string }
  /** `args`: the edited arguments; absent if no gate edited them. */
  | { readonly action: "allow"; readonly args?: JsonObject }
  | { readonly action: "ask"; readonly args?: JsonObject; readonly timeoutMs?: number; readonly reason?: string };

type Ask = Extract<GateVerdict, { readonly action: "ask" }>;

interface Asking {
  readonly asks: HookRunner;
  /** The validated arguments. */
  readonly args: unknown;
}

/**
 * Calls the `approval` of the tool, then the gates in their order. The first denial decides, also over an earlier `ask`; edits pass from gate to gate.
 * If several gates ask, the shortest time limit and all reasons are used. An `approve` cancels every earlier `ask`.
 * @throws AgentError CONFIG_INVALID when a gate returns a value that is not a verdict; and the error of a gate
 */
export async function runGateHooks(agent: Agent, gated: GatedCall, { asks: given, args }: Asking): Promise<GateJudgement> {
  let { call } = gated;
  const { callKey } = call;
  let asks: readonly Ask[] = [];
  const gates = agent.hooks.filter(({ gate }) => gate);
  for (const hooks of gated.tool.approval === undefined ? gates : [undefined, ...gates]) {
    const verdict: GateHookVerdict | undefined = hooks
      ? ((await hooks.gate?.({
          ...given.context(hooks, callKey),
          ...gated,
          call,
          isAsked: asks.length > 0,
          remembered: given.remembered(),
        })) ?? undefined)
      : await askTool(gated, { args, context: given.effectContext, resources: agent.resources });
    if (hooks) given.take(hooks, verdict);
    const reason = verdict && "reason" in verdict ? verdict.reason : undefined;
    given.note(hooks ?? `tool ${gated.tool.name}`, { action: verdict?.action ?? "unchanged", reason, callKey });
    const source = hooks ? hookPlace("gate", hooks) : approvalPlace(gated.tool);
    switch (verdict?.action) {
      case undefined:
      case "allow":
        break;
      case "edit":
        call = { ...call, args: verdict.args };
        break;
      case "deny":
        return { action: "deny", reason: verdict.reason };
      case "approve":
        asks = [];
        break;
      case "ask":
        asks = [...asks, checked(verdict, source)];
        break;
      default:
        throw invalid(`${source} gave an unknown verdict.`, "Return allow, edit, deny, approve or ask.", verdict satisfies never);
    }
  }
  const edited = call === gated.call ? {} : { args: call.args };
  return asks.length === 0 ? { action: "allow", ...edited } : { action: "ask", ...edited, ...joined(asks) };
}

/** The name of the tool's own gate in error messages. */
export const approvalPlace = ({ name }: Pick<Tool, "name">): string => `The function \`approval\` of the tool \`${name}\``;

/** The verdict of the tool's own `approval`. */
async function askTool(
  { tool, call }: GatedCall,
  { args, context, resources }: { readonly args: unknown; readonly context: EffectContext; readonly resources: unknown },
): Promise<GateVerdict> {
  const { sessionId, runId, access, signal } = context;
  const { approval } = tool;
  if (approval === true) return { action: "ask" };
  if (typeof approval === "string") return { action: "ask", reason: approval };
  if (typeof approval !== "function") return { action: "allow" };
  const answer = await approval.call(tool, args, { callKey: call.callKey, sessionId, runId, access, signal, resources });
  if (typeof answer === "object") return answer;
  return { action: answer === true ? "ask" : "allow" };
}

function checked(ask: Ask, source: string): Ask {
  const { timeoutMs } = ask;
  if (timeoutMs === undefined || (Number.isFinite(timeoutMs) && timeoutMs > 0)) return ask;
  throw invalid(`${source} asked with a \`timeoutMs\` that is not positive.`, "Leave `timeoutMs` out to wait for ever.");
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
