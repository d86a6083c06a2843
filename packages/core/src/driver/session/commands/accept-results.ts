import { AgentError } from "../../../errors.ts";
import { at, findLastIndex, lastWithKey } from "../../../loop/append-list.ts";
import { callsBelow, childCallOf, isRunOfParent } from "../../../loop/children/waits-of-children.ts";
import { pendingCall } from "../../../loop/events-of.ts";
import type { CallResult, ChildCall, FactBody } from "../../../loop/fact.ts";
import { keyOfEntry } from "../../../loop/fold-inputs.ts";
import { type Entry, type State, tipOf } from "../../../loop/state.ts";
import { partsOf, type ToolResultMessage } from "../../../message/message.ts";
import { shownId } from "../../../message/shown-id.ts";
import { normaliseOutput } from "../../../tools/normalise-output.ts";
import { toolLimits } from "../../../tools/tool-limits.ts";
import { driverLimits } from "../../setup/driver-limits.ts";
import type { Deps } from "../../setup/session-deps.ts";
import { answeredAbove, sessionClosed } from "../../setup/session-errors.ts";
import type { AcceptedInput } from "./accept-input.ts";

/**
 * The facts of results that answer pending client calls; all of them or none. A repeated result that equals the recorded one is accepted and changes
 * nothing. A repetition under the same key is accepted too: it never answers a later call, even if the vendor has used the id again.
 * @throws AgentError CALL_UNKNOWN, CALL_ANSWERED, SESSION_CLOSED, INPUT_INVALID, KEY_REUSED; then the session is unchanged
 */
export function acceptResults(
  state: State,
  results: readonly ToolResultMessage[],
  { deps, idempotencyKey }: { readonly deps: Deps; readonly idempotencyKey: string | undefined },
): AcceptedInput {
  checkList(results);
  checkPlace(state, deps);
  const earlier = idempotencyKey === undefined ? undefined : firstUnderKey(state, { key: idempotencyKey, results, deps });
  if (earlier) return { bodies: [], runId: earlier.runId ?? "", known: { seq: Number(earlier.id) } };
  const seen = new Set<string>();
  const bodies: FactBody[] = [];
  const openRunId = state.run?.runId ?? "";
  const key = idempotencyKey === undefined ? {} : { idempotencyKey };
  let known: Entry | undefined;
  for (const result of results) {
    const call = callOf(state, result);
    if (!call) {
      const entry = recordedResult(state, result, deps);
      if (!known || Number(entry.id) < Number(known.id)) known = entry;
      continue;
    }
    const { callKey, child } = call;
    if (seen.has(callKey))
      throw new AgentError("INPUT_INVALID", {
        message: `The call \`${shownId(result.toolCallId)}\` is answered twice.`,
        fix: "Send one result for each call.",
      });
    seen.add(callKey);
    checkDeadline(call, deps.clock.now());
    bodies.push({
      type: "client.answered",
      runId: openRunId,
      callKey,
      by: deps.access.user,
      ...key,
      ...(child ? { child } : {}),
      ...resultOf(result),
    });
  }
  const runId = bodies.length > 0 ? openRunId : (known?.runId ?? "");
  return { bodies, runId, ...(known ? { known: { seq: Number(known.id) } } : {}) };
}

/** @throws AgentError INPUT_INVALID */
function checkList(results: readonly ToolResultMessage[]): void {
  if (results.length > driverLimits.resultsPerInput)
    throw new AgentError("INPUT_INVALID", {
      message: `The list has ${results.length} results, at most ${driverLimits.resultsPerInput}.`,
      fix: "Send them in parts: the run waits for the rest.",
    });
}

interface Keyed {
  readonly key: string;
  readonly results: readonly ToolResultMessage[];
  readonly deps: Deps;
}

/** The first result that was recorded under the key; `undefined` if there is none. @throws AgentError KEY_REUSED when the results differ */
function firstUnderKey(state: State, { key, results, deps }: Keyed): Entry | undefined {
  const { history } = state;
  if (lastWithKey(history, key, keyOfEntry) === undefined) return undefined;
  const index = findLastIndex(history, (entry) => entry.key === key);
  const recorded: Entry[] = [];
  for (let entry = at(history, index); entry?.key === key; entry = at(history, index - recorded.length)) recorded.unshift(entry);
  const left = new Set(recorded);
  for (const result of results) {
    const twin = recorded.find((entry) => left.has(entry) && settles(entry, result) && isSameResult(entry, result));
    if (twin) left.delete(twin);
    // Some of the calls may have had their result before, so that only the others were recorded.
    else if (!recordedTwin(state, result, deps)) throw keyReused();
  }
  if (left.size > 0) throw keyReused();
  return recorded[0];
}

const keyReused = (): AgentError => new AgentError("KEY_REUSED", { message: "The idempotency key was used with other results." });

function recordedTwin(state: State, result: ToolResultMessage, deps: Deps): Entry | undefined {
  try {
    return recordedResult(state, result, deps);
  } catch {
    return undefined;
  }
}

/** True if the result names the call. A `callKey` is unique; a vendor may repeat an id. @throws AgentError INPUT_INVALID when id and key do not match */
function names(result: ToolResultMessage, part: { readonly id: string; readonly callKey: string }): boolean {
  const isId = part.id === result.toolCallId || part.callKey === result.toolCallId;
  if (result.callKey === undefined) return isId;
  if (part.callKey !== result.callKey) return false;
  if (isId) return true;
  throw new AgentError("INPUT_INVALID", {
    message: `The call \`${shownId(String(result.callKey))}\` does not have the id \`${shownId(result.toolCallId)}\`.`,
    fix: "Send `toolCallId` and `callKey` of one pending call.",
  });
}

/** A call that waits for a client: of this session, or of a child. */
interface AskedCall {
  readonly callKey: string;
  readonly toolCallId: string;
  readonly child?: ChildCall;
  readonly deadline?: number;
}

function callOf(state: State, result: ToolResultMessage): AskedCall | undefined {
  const own = state.run?.calls.find((call) => call.state === "awaiting_client" && names(result, call.part));
  if (own) return pendingCall(own, own.deadline);
  const below = callsBelow(state).find(
    ({ call: { toolCallId: id, callKey, argsDigest } }) => argsDigest === undefined && names(result, { id, callKey }),
  );
  return below && { ...below.call, child: childCallOf(below.child) };
}

/** Calls of a child are answered at the session above it. @throws AgentError CALL_UNKNOWN */
export function checkPlace(state: State, { parent }: Deps): void {
  if (!parent && isRunOfParent(state)) throw answeredAbove(state.parent?.session ?? "");
}

/** The recorded result that this result repeats, also in a closed session. @throws AgentError CALL_ANSWERED, SESSION_CLOSED, CALL_UNKNOWN */
function recordedResult(state: State, result: ToolResultMessage, { sessionId }: Deps): Entry {
  const entry = settledOnPath(state, result) ?? settledAnywhere(state, result);
  const toolCallId = shownId(result.toolCallId);
  const details = { toolCallId };
  if (!entry && state.status === "closed") throw sessionClosed(sessionId);
  if (!entry) throw new AgentError("CALL_UNKNOWN", { message: `No call \`${toolCallId}\` waits for a result.`, details });
  if (isSameResult(entry, result)) return entry;
  throw new AgentError("CALL_ANSWERED", { message: `The call \`${toolCallId}\` already has another result.`, details });
}

function isSameResult({ message }: Entry, result: ToolResultMessage): boolean {
  const { content, outcome } = message as ToolResultMessage;
  const same = resultOf(result);
  return JSON.stringify(content) === JSON.stringify(same.output) && (outcome ?? "ok") === same.outcome;
}

/** Finds a call by the vendor's id, which may occur again: a call on the current path is preferred. */
function settledOnPath(state: State, result: ToolResultMessage): Entry | undefined {
  let entry = at(state.history, tipOf(state));
  while (entry && !settles(entry, result)) entry = at(state.history, entry.parent);
  return entry;
}

/** Finds the call on any branch, because the head may have been moved meanwhile. */
function settledAnywhere({ history }: State, result: ToolResultMessage): Entry | undefined {
  return at(
    history,
    findLastIndex(history, (entry) => settles(entry, result)),
  );
}

const settles = ({ message }: Entry, result: ToolResultMessage): boolean =>
  message.role === "tool_result" && names(result, { id: message.toolCallId, callKey: message.callKey ?? message.toolCallId });

function checkDeadline({ deadline, toolCallId }: AskedCall, now: number): void {
  if (deadline === undefined || deadline > now) return;
  throw new AgentError("CALL_ANSWERED", {
    message: `The result of \`${shownId(toolCallId)}\` came after its deadline.`,
    details: { toolCallId: shownId(toolCallId) },
  });
}

/** The result to record. Its output is cut like the output of a server tool. */
function resultOf(result: ToolResultMessage): CallResult {
  const parts = partsOf(result.content);
  const output = normaliseOutput(parts.length === 0 ? undefined : parts, toolLimits.outputMax);
  if (output.flaw !== undefined)
    throw new AgentError("INPUT_INVALID", {
      message: `The result of \`${shownId(result.toolCallId)}\` holds ${output.flaw}.`,
      fix: "Send plain JSON.",
    });
  const outcome = result.isError ? "error" : "ok";
  return { outcome, output: output.parts, ...(result.details === undefined ? {} : { details: result.details }) };
}
