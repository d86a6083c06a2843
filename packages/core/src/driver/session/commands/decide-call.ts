/*
 * Owns: the fact of a person's decision on a call, or the reason of its refusal. A handle may record a decision without owning the session.
 * Does not own: the request for approval (prepare-tool-call), the consequences of a decision (the loop), the right to decide (the caller).
 */

import { AgentError } from "../../../errors.ts";
import { at, findLastIndex } from "../../../loop/append-list.ts";
import { callsBelow, childCallOf } from "../../../loop/children/waits-of-children.ts";
import type { ChildCall, FactBody } from "../../../loop/fact.ts";
import { openCall } from "../../../loop/fold-calls.ts";
import type { KnownDecision, State } from "../../../loop/state.ts";
import { canonicalJson } from "../../../message/canonical-json.ts";
import { present } from "../../../message/drop-undefined.ts";
import type { JsonObject } from "../../../message/json.ts";
import { jsonBytes } from "../../../message/json-bytes.ts";
import { shownId } from "../../../message/shown-id.ts";
import { wellFormed } from "../../../message/well-formed-text.ts";
import type { AcceptedDecision, ApprovalDecision, DecideOptions } from "../../../protocol/approval.ts";
import { toolLimits } from "../../../tools/tool-limits.ts";
import { validateArguments } from "../../../tools/validate-arguments.ts";
import { checkPayload } from "../../log/spill-large-values.ts";
import { sessionClosed } from "../../setup/session-errors.ts";
import { checkPlace } from "./accept-results.ts";
import { accessOf, type CommandContext } from "./submit-input.ts";

/**
 * Records a decision on a call that awaits approval, and continues the run. Resolves when the log has the decision.
 * @throws AgentError APPROVAL_DECIDED with the first decision in `details`, APPROVAL_MISMATCH, CALL_UNKNOWN, INPUT_INVALID, KEY_REUSED,
 * SESSION_CLOSED, FORBIDDEN; then the session is unchanged
 */
export async function decideCall(context: CommandContext, callKey: string, options: DecideOptions): Promise<AcceptedDecision> {
  const { deps, driver, driveUntilIdle } = context;
  const { user } = accessOf(deps, options.access);
  const decision = checkedDecision(options);
  if (decision.args) await checkArguments(context, callKey, decision.args);
  let known: KnownDecision | undefined;
  const bodies = (state: State): readonly FactBody[] => {
    known = knownDecision(state, { callKey, decision, user });
    if (known) return [];
    if (state.status === "closed") throw sessionClosed(deps.sessionId);
    checkPlace(state, deps);
    const { runId, toolName, child } = askedCall(state, callKey, { decision, now: deps.clock.now() });
    const { decision: verdict, args, note, idempotencyKey, argsDigest, remember: pattern } = decision;
    if (pattern) checkRoom(state);
    const details = present({ args, note, argsDigest, idempotencyKey, child, remember: pattern ? { toolName, pattern } : undefined });
    return [{ type: "approval.decided", runId, callKey, decision: verdict, by: user, ...details }];
  };
  const [fact] = await driver.offer({ bodies, needsOwner: true });
  if (deps.drives) driveUntilIdle();
  if (known) return { runId: known.runId, seq: known.seq, replayed: true };
  return { runId: fact && "runId" in fact ? fact.runId : "", seq: fact?.seq ?? 0, replayed: false };
}

/** @throws AgentError INPUT_INVALID */
function checkedDecision(options: DecideOptions): ApprovalDecision {
  const { access: _, ...decision } = options;
  const { args, note, remember } = decision;
  if (decision.decision !== "allow" && decision.decision !== "deny") throw invalid("`decision` is neither allow nor deny.");
  if (note !== undefined && (typeof note !== "string" || note.length > toolLimits.errorTextMax))
    throw invalid(`The \`note\` is no text of at most ${toolLimits.errorTextMax} characters.`);
  if (args !== undefined && (typeof args !== "object" || args === null || Array.isArray(args))) throw invalid("`args` is no JSON object.");
  if (args && decision.decision === "deny") throw invalid("A denial takes no `args`.");
  checkPayload(args ?? null, "The arguments");
  if (remember !== undefined) checkPattern(remember);
  return {
    ...decision,
    ...(args ? { args: mended(args) } : {}),
    ...(note === undefined ? {} : { note: wellFormed(note) }),
  };
}

/** @throws AgentError INPUT_INVALID */
function checkPattern(pattern: unknown): void {
  if (typeof pattern !== "object" || pattern === null || Array.isArray(pattern)) throw invalid("`remember` is no JSON object.");
  checkPayload(pattern, "`remember`");
  if (jsonBytes(pattern) > patternBytesMax) throw invalid(`\`remember\` takes more than ${patternBytesMax} bytes.`);
}

/** @throws AgentError INPUT_INVALID */
function checkRoom({ remembered = [] }: State): void {
  if (remembered.length < rememberedMax) return;
  throw new AgentError("INPUT_INVALID", {
    message: `The session remembers ${rememberedMax} decisions already.`,
    fix: "Decide on this call alone, or let the session forget one of its decisions: `change({ forget: [callKey] })`.",
  });
}

/** The most decisions that a session remembers, and the most bytes of a pattern. */
const [rememberedMax, patternBytesMax] = [100, 4_096];

/** Replaces lone surrogates, which UTF-8 cannot hold. */
const mended = (args: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(args), (_, value: unknown) => (typeof value === "string" ? wellFormed(value) : value)) as JsonObject;

/** Checks edited arguments at once if this handle has the tool; the owner that starts the tool checks them again. @throws AgentError INPUT_INVALID */
async function checkArguments({ deps, driver }: CommandContext, callKey: string, args: JsonObject): Promise<void> {
  let name: string | undefined;
  const look = ({ run }: State): readonly FactBody[] => {
    // A `prepare` hook may have given the model another tool of that name.
    name = run?.shown ? undefined : run?.calls.find(({ part }) => part.callKey === callKey)?.part.name;
    return [];
  };
  await driver.offer({ bodies: look, needsOwner: false });
  const tool = deps.bound.agent.tools.find((one) => one.name === name);
  const { problem } = tool ? await validateArguments(tool, args) : {};
  if (problem !== undefined) throw invalid(`The edited arguments do not fit the tool \`${name ?? ""}\`: ${problem}`);
}

interface DecisionRequest {
  readonly callKey: string;
  readonly decision: ApprovalDecision;
  readonly user: string;
}

/** The decision that this one repeats. @throws AgentError KEY_REUSED, APPROVAL_DECIDED */
function knownDecision({ decisions }: State, { callKey, decision, user }: DecisionRequest): KnownDecision | undefined {
  if (!decisions) return undefined;
  const find = (fits: (known: KnownDecision) => boolean): KnownDecision | undefined => at(decisions, findLastIndex(decisions, fits));
  const key = decision.idempotencyKey;
  const twin = key === undefined ? undefined : find((known) => known.key === key);
  if (twin) {
    if (twin.callKey === callKey && twin.argsDigest === decision.argsDigest && isEqual(twin, decision)) return twin;
    throw new AgentError("KEY_REUSED", { message: "The idempotency key was used with another decision." });
  }
  const first = find((known) => known.callKey === callKey);
  if (!first || (first.by === user && isEqual(first, decision))) return first;
  throw decidedAlready(first);
}

const isEqual = (known: KnownDecision, { decision, args, note, remember }: ApprovalDecision): boolean =>
  known.decision === decision &&
  known.note === note &&
  canonicalJson(known.pattern ?? null) === canonicalJson(remember ?? null) &&
  canonicalJson(known.args ?? null) === canonicalJson(args ?? null);

function decidedAlready({ callKey, decision, by, note, at: when }: KnownDecision): AgentError {
  const done = { allow: "allowed", deny: "denied" }[decision];
  return new AgentError("APPROVAL_DECIDED", {
    message: `The call \`${callKey}\` was ${done} already${by === undefined ? "" : ` by \`${by}\``}.`,
    details: { callKey, decision, at: when, ...(by === undefined ? {} : { by }), ...(note === undefined ? {} : { note }) },
  });
}

/** The run of the call that waits for this decision, and the call's child, if any. @throws AgentError APPROVAL_DECIDED, APPROVAL_MISMATCH, CALL_UNKNOWN */
function askedCall(
  state: State,
  callKey: string,
  { decision, now }: { readonly decision: ApprovalDecision; readonly now: number },
): { readonly runId: string; readonly toolName: string; readonly child?: ChildCall } {
  const runId = state.run?.runId ?? "";
  const own = openCall(state, { runId, callKey });
  const below = callsBelow(state).find(({ call }) => call.callKey === callKey && call.argsDigest !== undefined);
  const asked = own?.state === "awaiting_approval" ? { deadline: own.deadline, argsDigest: own.asking?.argsDigest } : below?.call;
  if (!asked) throw notAsked(state, callKey);
  if (state.run?.abort) throw tooLate(callKey, "aborted");
  if (asked.deadline !== undefined && asked.deadline <= now) throw tooLate(callKey, "expired");
  if (decision.argsDigest !== undefined && decision.argsDigest !== asked.argsDigest)
    throw new AgentError("APPROVAL_MISMATCH", { message: `The decision is about other arguments than those of the call \`${callKey}\`.` });
  const toolName = below && !own ? below.call.toolName : (own?.part.name ?? "");
  return { runId, toolName, ...(below && !own ? { child: childCallOf(below.child) } : {}) };
}

/** The error for a decision on a call that is not awaiting approval. */
function notAsked({ history }: State, callKey: string): AgentError {
  const index = findLastIndex(history, ({ message }) => message.role === "tool_result" && message.callKey === callKey);
  const message = at(history, index)?.message;
  const outcome = message?.role === "tool_result" ? message.outcome : undefined;
  if (outcome === "expired" || outcome === "aborted") return tooLate(callKey, outcome);
  return new AgentError("CALL_UNKNOWN", {
    message: `No call \`${shownId(callKey)}\` waits for a decision.`,
    fix: "Decide on one of the pending approvals.",
    details: { callKey: shownId(callKey) },
  });
}

function tooLate(callKey: string, outcome: "expired" | "aborted"): AgentError {
  const why = { expired: "came after the deadline", aborted: "came after the run was stopped" }[outcome];
  return new AgentError("APPROVAL_DECIDED", {
    message: `The decision on the call \`${callKey}\` ${why}.`,
    fix: "Read the session; the call is not run.",
    details: { callKey, outcome },
  });
}

const invalid = (message: string): AgentError =>
  new AgentError("INPUT_INVALID", { message, fix: "Send `decision` allow or deny, `args` to edit, and a short `note`." });
