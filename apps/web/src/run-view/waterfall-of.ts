import type { DurableEvent } from "@loopwright/core/protocol";
import type { Waterfall, WaterfallBar, WaterfallMark } from "./waterfall.ts";

type EventOf<Type> = Extract<DurableEvent, { readonly type: Type }>;
type Bar = { -readonly [Key in keyof WaterfallBar]: WaterfallBar[Key] };

/** What `waterfallOf` knows while it reads. */
interface Scene {
  readonly startedAt: number;
  readonly bars: Bar[];
  readonly marks: WaterfallMark[];
  /** Open bars, by what ends them. */
  readonly open: Map<string, Bar>;
  run: Pick<Waterfall, "model" | "provider" | "status" | "reason" | "error" | "usage" | "cost">;
  attempts: number;
}

/** The waterfall of a run from its durable events, in their order; `undefined` when there are none. Unknown events are skipped. */
export function waterfallOf(events: readonly DurableEvent[]): Waterfall | undefined {
  const first = events[0];
  const last = events.at(-1);
  if (!first || !last) return undefined;
  const scene: Scene = { startedAt: first.at, bars: [], marks: [], open: new Map(), run: { status: "open" }, attempts: 0 };
  for (const event of events) read(scene, event);
  const totalMs = Math.max(last.at - first.at, ...scene.bars.map(({ endMs = 0 }) => endMs));
  return { runId: first.runId ?? "", startedAt: first.at, totalMs, ...scene.run, bars: scene.bars, marks: scene.marks };
}

function read(scene: Scene, event: DurableEvent): void {
  switch (event.type) {
    case "input_accepted":
      // A later one joins the run while it is open.
      if (scene.bars.length === 0) begin(scene, "queue", { at: event.at, kind: "queue", label: "Waiting to start", depth: 0 });
      else mark(scene, event, "A message joined");
      return;
    case "run_start":
      end(scene, "queue", { at: event.at });
      // Most runs begin at once: that is no news.
      if (event.at === scene.startedAt) scene.bars.length = 0;
      scene.run = { ...scene.run, model: event.model, provider: event.provider };
      return;
    case "turn_start":
      scene.attempts = 0;
      begin(scene, "turn", { at: event.at, kind: "turn", label: `Turn ${event.turn}`, depth: 0 });
      return;
    case "turn_end":
      end(scene, "turn", { at: event.at });
      return;
    case "aborting":
      mark(scene, event, `Stopping: ${event.reason}`);
      return;
    case "limit_reached":
      mark(scene, event, `Limit reached: ${event.value} ${event.which === "turns" ? "turns" : "tool calls"}`);
      return;
    case "verdict":
      mark(scene, event, `${event.hook}, ${event.point}: ${event.action}${event.reason === undefined ? "" : ` (${event.reason})`}`);
      return;
    case "context_compacted":
      mark(scene, event, "Context shortened");
      return;
    case "error":
      scene.run = { ...scene.run, error: { code: event.code, message: event.error } };
      return;
    case "run_end":
      endRun(scene, event);
      return;
    default:
      if (!readModel(scene, event)) readCall(scene, event);
  }
}

function readModel(scene: Scene, event: DurableEvent): boolean {
  switch (event.type) {
    case "message_start":
      if (event.role !== "assistant") return true;
      end(scene, "wait", { at: event.at });
      scene.attempts++;
      begin(scene, "model", {
        at: event.at,
        kind: "model",
        label: scene.run.model ?? "Model",
        depth: 1,
        ...(scene.attempts > 1 ? { attempt: scene.attempts } : {}),
      });
      return true;
    case "message_end":
      if (event.message.role === "assistant") endModel(scene, event, event.message.stopReason);
      else if (event.message.role === "tool_result")
        end(scene, `client ${event.message.callKey}`, { at: event.at, state: event.message.isError ? "failed" : "ok" });
      return true;
    case "attempt_discarded": {
      const { code, reason, usage, cost, willRetry } = event;
      end(scene, "model", {
        at: event.at,
        // The call has answered, and the application has put another answer in its place.
        state: code === "ANSWER_WITHDRAWN" && !willRetry ? "ok" : "failed",
        note: `${reason} (${code})`,
        ...(usage ? { usage } : {}),
        ...(cost ? { cost } : {}),
      });
      return true;
    }
    case "retry_scheduled":
      begin(scene, "wait", { at: event.at, kind: "wait", label: "Waiting to try again", depth: 1, note: event.reason });
      return true;
    default:
      return false;
  }
}

function endModel(scene: Scene, event: EventOf<"message_end">, stopReason: string): void {
  const { usage, cost, timings } = event;
  const firstTokenMs = timings?.firstTokenMs;
  end(scene, "model", {
    at: event.at,
    state: stopReason === "aborted" ? "aborted" : stopReason === "error" ? "failed" : "ok",
    ...(firstTokenMs === undefined ? {} : { firstTokenMs }),
    ...(usage ? { usage } : {}),
    ...(cost ? { cost } : {}),
  });
}

function readCall(scene: Scene, event: DurableEvent): void {
  switch (event.type) {
    case "tool_execution_start":
      // An attempt that died with its process has no end of its own.
      end(scene, `tool ${event.callKey}`, { at: event.at, state: "failed", note: "The process died" });
      begin(scene, `tool ${event.callKey}`, {
        at: event.at,
        kind: "tool",
        label: event.label ?? event.toolName,
        depth: 1,
        ...(event.attempt > 1 ? { attempt: event.attempt } : {}),
      });
      return;
    case "tool_execution_end": {
      const { outcome, usage, cost } = event;
      const state = outcome === "ok" ? "ok" : outcome === "aborted" ? "aborted" : "failed";
      end(scene, `tool ${event.callKey}`, {
        at: event.at,
        state,
        ...(outcome === "ok" ? {} : { note: outcome }),
        ...(usage ? { usage } : {}),
        ...(cost ? { cost } : {}),
      });
      return;
    }
    case "awaiting_tool_execution":
      for (const { callKey, toolName } of event.toolCalls)
        begin(scene, `client ${callKey}`, { at: event.at, kind: "client", label: toolName, depth: 1, note: "Answered by the client" });
      return;
    case "approval_requested":
      begin(scene, `approval ${event.callKey}`, { at: event.at, kind: "approval", label: `Approval of ${event.toolName}`, depth: 1 });
      return;
    case "approval_decided":
      end(scene, `approval ${event.callKey}`, { at: event.at, state: event.decision === "allow" ? "ok" : "failed" });
      return;
    default:
  }
}

function endRun(scene: Scene, event: EventOf<"run_end">): void {
  const { status, reason, usage, cost } = event;
  // A bar that was not closed ends with the run.
  for (const name of [...scene.open.keys()]) end(scene, name, { at: event.at, state: status === "completed" ? "ok" : "aborted" });
  scene.run = { ...scene.run, status, reason, ...(usage ? { usage } : {}), ...(cost ? { cost } : {}) };
}

interface Begun extends Pick<Bar, "kind" | "label" | "depth" | "attempt" | "note"> {
  readonly at: number;
}

function begin(scene: Scene, name: string, { at, ...bar }: Begun): void {
  const begun: Bar = { key: `${bar.kind}${scene.bars.length}`, startMs: at - scene.startedAt, state: "open", ...bar };
  scene.bars.push(begun);
  scene.open.set(name, begun);
}

interface Ended extends Partial<Pick<Bar, "state" | "note" | "firstTokenMs" | "usage" | "cost">> {
  readonly at: number;
}

function end(scene: Scene, name: string, { at, ...more }: Ended): void {
  const bar = scene.open.get(name);
  if (!bar) return;
  scene.open.delete(name);
  Object.assign(bar, { endMs: at - scene.startedAt, state: "ok" }, more);
}

function mark(scene: Scene, { at, seq, k }: DurableEvent, label: string): void {
  scene.marks.push({ key: `${seq}.${k}`, atMs: at - scene.startedAt, label });
}
