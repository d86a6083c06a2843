import { type Effect, type Plan, restPlan } from "./effect.ts";
import type { BodyOf, FactBody } from "./fact.ts";
import { policyOfShown, type ToolPolicy } from "./facts/tool-policy.ts";
import { awaitsGates, clientDeadline } from "./fold-calls.ts";
import { timeLimit } from "./reached-limit.ts";
import { badArguments, closeCall, interrupted, unknownTool } from "./results-without-run.ts";
import { mayRunToolAgain } from "./retry/may-run-tool-again.ts";
import { type Call, isAwaited, type Run } from "./state.ts";

/**
 * The steps for the calls of the turn without a result: results that need no tool, requests to the client, and the tools that may start now. `now`: the
 * date of the last fact.
 */
export function planCalls(run: Run, now: number): Plan {
  if (!run.calls.some(isUndecided)) return restPlan;
  const facts: FactBody[] = [];
  const ready: Call[] = [];
  run.calls.forEach((call, index) => {
    if (call.state === "done" || isAwaited(call)) return;
    const closing = closingFact(run, call, { index, now });
    if (closing) facts.push(closing);
    else if (call.route === "server" && (call.state === "pending" || call.inDoubt)) ready.push(call);
  });
  facts.push(...clientRequests(run, facts));
  return { facts, effects: facts.length > 0 ? [] : [...gatesOwed(run), ...startable(run, ready)] };
}

/** The call of the gates, made once for all client calls of the turn. */
function gatesOwed(run: Run): readonly Effect[] {
  const calls = run.gatesClient ? run.calls.filter((call) => awaitsGates(run, call)) : [];
  const { runId, turn } = run;
  return calls.length > 0 ? [{ type: "gate-calls", id: `${runId}.${turn}/gates`, runId, turn, calls }] : [];
}

/** True if the call waits to be started, or its outcome is unknown. */
const isUndecided = (call: Call): boolean => call.state === "pending" || call.inDoubt;

/** The result of a call that must not run, or not again. */
function closingFact(run: Run, call: Call, { index, now }: { readonly index: number; readonly now: number }): FactBody | undefined {
  const { runId } = run;
  if (call.state === "running")
    return call.inDoubt && !mayRunToolAgain(run, call) && !hasLookup(run, call) ? interrupted(runId, call) : undefined;
  if (run.failure || run.decision?.action === "stop") {
    return closeCall(runId, call, { outcome: "denied", code: "TOOL_DENIED", text: "Not run: the run was ended." });
  }
  if (call.route === "unknown") return unknownTool(run, call);
  if (call.route === "invalid") return badArguments(runId, call);
  // The child of the call exists, so the call continues.
  if (call.suspensions) return undefined;
  if (isOverLimit(run, index) || (run.limit && run.turn > run.limit.turn) || timeLimit(run, now)) {
    return closeCall(runId, call, { outcome: "denied", code: "TOOL_LIMIT", text: "Not run: the limit of this request is used up." });
  }
  if (call.approval?.decision === "deny") {
    return closeCall(runId, call, {
      outcome: "denied",
      code: "TOOL_DENIED",
      text: `Denied. ${call.approval.note ?? "No reason was given."}`,
    });
  }
  return undefined;
}

/** Calls of the batch beyond `toolCallsMax`, counted in call order, do not run. */
function isOverLimit(run: Run, index: number): boolean {
  const { toolCallsMax } = run.limits;
  if (toolCallsMax === 0 || run.toolCallCount <= toolCallsMax || !counts(run, run.calls[index])) return false;
  const countedAfter = run.calls.slice(index + 1).filter((call) => counts(run, call)).length;
  return run.toolCallCount - countedAfter > toolCallsMax;
}

const counts = (run: Run, call: Call | undefined): boolean => (call ? (policyOf(run, call)?.counts ?? true) : false);
const policyOf = (run: Run, call: Call): ToolPolicy | undefined => policyOfShown(run, call.part.name);
const hasLookup = (run: Run, call: Call): boolean => policyOf(run, call)?.lookup ?? false;

/** One request for all client calls of the turn. */
function clientRequests(run: Run, closing: readonly FactBody[]): readonly FactBody[] {
  const closed = new Set(closing.map((fact) => (fact.type === "tool.finished" ? fact.callKey : "")));
  const asked = run.calls.filter(
    (call) => call.route === "client" && call.state === "pending" && !closed.has(call.part.callKey) && !awaitsGates(run, call),
  );
  return asked.length > 0 ? [clientRequest(run, asked)] : [];
}

/** The request that clients run these calls. */
export function clientRequest(run: Run, calls: readonly Call[]): BodyOf<"client.requested"> {
  const deadlines = calls.flatMap((call) => clientDeadline(run, call) ?? []);
  const deadline = deadlines.length > 0 ? { deadline: Math.min(...deadlines) } : {};
  return { type: "client.requested", runId: run.runId, callKeys: calls.map(({ part }) => part.callKey), ...deadline };
}

/** The calls that may start now, in call order: at most `parallelMax` run at once, and a sequential tool runs alone. */
function startable(run: Run, ready: readonly Call[]): readonly Effect[] {
  let underWay = run.calls.filter((call) => call.state === "running" && !call.inDoubt);
  const effects: Effect[] = [];
  for (const call of ready) {
    const isAlone = policyOf(run, call)?.sequential ?? false;
    const isHeld = underWay.some((other) => policyOf(run, other)?.sequential ?? false);
    if (underWay.length >= run.limits.parallelMax || isHeld || (isAlone && underWay.length > 0)) break;
    effects.push(effectFor(run, call));
    underWay = [...underWay, call];
  }
  return effects;
}

function effectFor(run: Run, call: Call): Effect {
  const { runId, turn } = run;
  const { callKey } = call.part;
  if (call.inDoubt && !mayRunToolAgain(run, call)) return { type: "lookup-tool", id: `${callKey}/lookup`, runId, call };
  const attempt = call.attempt + 1;
  return { type: "run-tool", id: `${callKey}#${attempt}`, runId, turn, attempt, call };
}
