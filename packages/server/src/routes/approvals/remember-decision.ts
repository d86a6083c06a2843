import { AgentError, type AgentSession } from "@loopwright/core";
import type { ApprovalMemory, DecidedCall } from "@loopwright/core/ports";
import type { AcceptedDecision, DecideOptions, JsonObject } from "@loopwright/core/protocol";
import { accessOf } from "../../identity/access-of-principal.ts";
import type { DecisionRequest } from "../../schemas/index.ts";
import type { ServerContext } from "../../server-context.ts";
import type { Principal } from "../../server-options.ts";

export interface DecidingContext {
  readonly session: AgentSession;
  readonly callKey: string;
  readonly principal: Principal;
  readonly server: Pick<ServerContext, "options">;
}

/**
 * Decides the call, and remembers the decision if the request asks for that. The rule is stored before the decision is recorded, so that no recorded
 * decision lacks its rule. If the decision is refused, the rules are as before.
 * @throws AgentError INPUT_INVALID, STORE_FULL, and as `session.decide`
 */
export async function decideAndRemember(
  { session, callKey, principal, server }: DecidingContext,
  { remember, ...request }: DecisionRequest & Pick<DecideOptions, "idempotencyKey">,
): Promise<AcceptedDecision> {
  const access = accessOf(principal);
  const decision: DecideOptions = { ...request, access };
  if (!remember) return session.decide(callKey, decision);
  const memory = memoryOf(server, request);
  const call = pendingCall(session, callKey, request);
  // The call does not wait with these arguments: the request is a repetition, or `decide` refuses it.
  if (!call) return session.decide(callKey, { ...decision, ...keptPattern(session, callKey) });
  const pattern = memory.patternFor(call, remember.pattern);
  if (remember.for === "session") return session.decide(callKey, { ...decision, remember: pattern });
  const known = await memory.list(access);
  const draft = { toolName: call.toolName, decision: request.decision, pattern, sessionId: session.id };
  const rule = await memory.remember(access, draft);
  try {
    return await session.decide(callKey, decision);
  } catch (error) {
    const before = known.find(({ id }) => id === rule.id);
    await (before ? memory.remember(access, before) : memory.forget(access, rule.id));
    throw error;
  }
}

/** @throws AgentError INPUT_INVALID */
function memoryOf({ options: { approvals } }: Pick<ServerContext, "options">, { argsDigest }: DecisionRequest): ApprovalMemory {
  if (!approvals) throw refused("This server remembers no decisions.", "Leave `remember` out, or give the server `approvals`.");
  if (argsDigest === undefined)
    throw refused("A decision that is remembered needs `argsDigest`.", "Send the `argsDigest` of the pending approval.");
  return approvals;
}

const refused = (message: string, fix: string): AgentError =>
  new AgentError("INPUT_INVALID", { message, fix, details: { field: "remember" } });

/** The call as it will run after the decision. */
function pendingCall(session: AgentSession, callKey: string, { argsDigest, args }: DecisionRequest): DecidedCall | undefined {
  const pending = session.pendingApprovals.find((approval) => approval.callKey === callKey);
  if (!pending || pending.argsDigest !== argsDigest) return undefined;
  return { toolName: pending.toolName, args: args ?? pending.args };
}

function keptPattern(session: AgentSession, callKey: string): { readonly remember?: JsonObject } {
  const kept = session.snapshot().remembered?.find((one) => one.callKey === callKey);
  return kept ? { remember: kept.pattern } : {};
}
