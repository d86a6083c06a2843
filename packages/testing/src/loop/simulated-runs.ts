import {
  AgentError,
  type DurableEvent,
  type EphemeralEvent,
  type ExecuteResult,
  type SessionEvent,
  type SessionSnapshot,
  type SnapshotMessage,
} from "@loopwright/core";
import { withChildEvents } from "./events-of-children.ts";
import { type SimulatedStep, simulatedSession } from "./simulated-session.ts";

/** What one execution gives of a run: until it ends, or waits for people or clients. */
export interface SimulatedExecution {
  readonly events: readonly SessionEvent[];
  readonly result: ExecuteResult;
  /** The session as the execution leaves it. */
  readonly snapshot: SessionSnapshot;
}

/** One run of a simulated session, as a reader of it alone sees it. */
export interface SimulatedRun {
  readonly runId: string;
  /** Its durable events, and those of its lanes, in order. */
  readonly events: readonly SessionEvent[];
  /** The same events, where each wait for people or clients ends an execution and its answer begins the next one. */
  readonly executions: readonly SimulatedExecution[];
  readonly result: ExecuteResult;
  /** Its messages in the session. */
  readonly messages: readonly SnapshotMessage[];
  /** The session after its last run. */
  readonly snapshot: SessionSnapshot;
  /** The same events, fact by fact. */
  readonly moments: readonly SimulatedMoment[];
}

/** What happens up to the next fact. */
export interface SimulatedMoment {
  readonly events: readonly SessionEvent[];
  /** What each open lane has by then, as one snapshot. */
  readonly lanes: readonly EphemeralEvent[];
}

/** What a reader gets that joins a run. */
export interface JoinedRun {
  /** What the log has by then. */
  readonly logged: readonly SessionEvent[];
  /** Snapshots of what is being streamed, and what follows. */
  readonly live: readonly SessionEvent[];
}

/** What one fact adds to a run. */
interface StepOfRun {
  readonly step: SimulatedStep;
  readonly events: readonly SessionEvent[];
}

/**
 * The runs of a session made by the loop simulator, the same for the same seed. All of them have ended. Among them are runs with children that stream and ask, with
 * attempts that were discarded after some text, approvals, client tools, compactions, aborts, crashes, limits and failures.
 */
export function simulatedRuns(seed: number, options: { readonly steps?: number } = {}): readonly SimulatedRun[] {
  const steps = simulatedSession(seed, { ...options, isWide: true });
  const runs = new Map<string, StepOfRun[]>();
  let open: string | undefined;
  for (const step of steps) {
    const ofRuns = new Map<string, SessionEvent[]>();
    for (const event of step.events) {
      if (event.type === "run_start") open = event.runId;
      // Lanes do not name their run: of one session only one is open.
      const runId = "lane" in event ? open : event.runId;
      if (runId !== undefined) ofRuns.set(runId, [...(ofRuns.get(runId) ?? []), event]);
      if (event.type === "run_end") open = undefined;
    }
    for (const [runId, events] of ofRuns) runs.set(runId, [...(runs.get(runId) ?? []), { step, events }]);
  }
  const snapshot = (steps.at(-1) as SimulatedStep).snapshot();
  return [...runs].flatMap(([runId, given], at) => {
    const run = withChildEvents(given, seed + at);
    const events = run.flatMap((one) => one.events);
    const result = resultOf(events);
    if (!result) return [];
    const messages = snapshot.messages.filter((message) => message.runId === runId);
    const moments = run.map((one) => ({ events: one.events, lanes: one.step.lanes() }));
    return [{ runId, events, executions: executionsOf(run), result, messages, snapshot, moments }];
  });
}

/** The run for a reader that joins after the fact with this number, counted on beyond the last one from the first. */
export function joinedRun({ moments }: SimulatedRun, number: number): JoinedRun {
  const at = number % moments.length;
  const logged = moments.slice(0, at + 1).flatMap(({ events }) => events.filter((event) => "seq" in event));
  const has = (type: SessionEvent["type"]): boolean => logged.some((event) => event.type === type);
  const rest = moments.slice(at + 1).flatMap(({ events }) => events);
  // Before its beginning and after its end, the open lanes are those of other runs.
  return { logged, live: has("run_start") && !has("run_end") ? [...(moments[at]?.lanes ?? []), ...rest] : rest };
}

function executionsOf(run: readonly StepOfRun[]): readonly SimulatedExecution[] {
  const executions: SimulatedExecution[] = [];
  let events: SessionEvent[] = [];
  for (const { step, events: added } of run) {
    events.push(...added);
    const end = resultOf(events) ?? (step.isAsking ? waitOf(events, step) : undefined);
    // What happens after the end, such as the cost of a child, is of no execution.
    if (!end || executions.at(-1)?.result.status === "completed") continue;
    executions.push({ events, result: end, snapshot: step.snapshot() });
    events = [];
  }
  return executions;
}

function commonOf(events: readonly SessionEvent[]) {
  const answers = events.flatMap((event) => (event.type === "message_end" && event.message.role === "assistant" ? [event.message] : []));
  const last = answers.at(-1);
  const text = (last?.content ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
  return { messages: answers, text, ...(last ? { finishReason: last.stopReason } : {}) };
}

function waitOf(events: readonly SessionEvent[], step: SimulatedStep): ExecuteResult {
  const { pendingToolCalls = [], pendingApprovals = [] } = step.snapshot().run ?? {};
  return { ...commonOf(events), status: "awaiting_tool_execution", pendingToolCalls, pendingApprovals };
}

function resultOf(events: readonly SessionEvent[]): ExecuteResult | undefined {
  const end = events.find((event) => event.type === "run_end");
  if (!end) return undefined;
  const common = { ...commonOf(events), ...(end.usage ? { usage: end.usage } : {}) };
  if (end.status === "completed") return { ...common, status: "completed", output: undefined };
  const failure = events.find((event): event is DurableEvent & { readonly type: "error" } => event.type === "error");
  const error = new AgentError(failure?.code ?? "RUN_ABORTED", { message: failure?.error ?? "The run was stopped." });
  return { ...common, status: end.status === "aborted" ? "aborted" : "error", error };
}
