import {
  AgentError,
  type DurableEvent,
  type ExecuteResult,
  type SessionEvent,
  type SessionSnapshot,
  type SnapshotMessage,
} from "@loopwright/core";
import { type SimulatedStep, simulatedSession } from "./simulated-session.ts";

/** One run of a simulated session, as a reader of it alone sees it. */
export interface SimulatedRun {
  readonly runId: string;
  /** Its durable events, and those of its lanes, in order. */
  readonly events: readonly SessionEvent[];
  readonly result: ExecuteResult;
  /** Its messages in the session. */
  readonly messages: readonly SnapshotMessage[];
  /** The session after its last run. */
  readonly snapshot: SessionSnapshot;
}

/** The runs of a session made by the loop simulator, the same for the same seed. All of them have ended. */
export function simulatedRuns(seed: number, options: { readonly steps?: number } = {}): readonly SimulatedRun[] {
  const steps = simulatedSession(seed, options);
  const snapshot = (steps.at(-1) as SimulatedStep).snapshot();
  const runs = new Map<string, SessionEvent[]>();
  let open: string | undefined;
  for (const event of steps.flatMap(({ events }) => events)) {
    if (event.type === "run_start") open = event.runId;
    // Lanes do not name their run: of one session only one is open.
    const runId = "lane" in event ? open : event.runId;
    if (runId !== undefined) runs.set(runId, [...(runs.get(runId) ?? []), event]);
    if (event.type === "run_end") open = undefined;
  }
  return [...runs].flatMap(([runId, events]) => {
    const result = resultOf(events);
    const messages = snapshot.messages.filter((message) => message.runId === runId);
    return result ? [{ runId, events, result, messages, snapshot }] : [];
  });
}

function resultOf(events: readonly SessionEvent[]): ExecuteResult | undefined {
  const end = events.find((event) => event.type === "run_end");
  if (!end) return undefined;
  const answers = events.flatMap((event) => (event.type === "message_end" && event.message.role === "assistant" ? [event.message] : []));
  const last = answers.at(-1);
  const text = (last?.content ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
  const usage = end.usage ? { usage: end.usage } : {};
  const common = { messages: answers, text, ...usage, ...(last ? { finishReason: last.stopReason } : {}) };
  if (end.status === "completed") return { ...common, status: "completed", output: undefined };
  const failure = events.find((event): event is DurableEvent & { readonly type: "error" } => event.type === "error");
  const error = new AgentError(failure?.code ?? "RUN_ABORTED", { message: failure?.error ?? "The run was stopped." });
  return { ...common, status: end.status === "aborted" ? "aborted" : "error", error };
}
