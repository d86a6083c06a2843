import { StreamResponse, TaskState } from "@a2a-js/sdk";
import { type AgentEvent, type AssistantPart, type Message, type RunStatus, textOf } from "@loopwright/core/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { TaskEvent } from "./a2a-task.ts";
import { legacyEvent } from "./legacy-wire.ts";
import { TaskFold } from "./task-fold.ts";

const runId = "run1";
/** As a server has them, with fields that are none of the protocol. */
const ids = { taskId: `context-1.${runId}`, contextId: "garden", session: "context-1", runId };

/** A block of an answer, with its text in the deltas in which it comes. */
interface Block {
  readonly kind: "text" | "thinking" | "call";
  readonly deltas: readonly string[];
}

interface Turn {
  /** Attempts that were thrown away. */
  readonly discarded: readonly (readonly Block[])[];
  readonly blocks: readonly Block[];
  /** How the reader gets the last attempt. */
  readonly seen: "deltas" | "snapshot first" | "snapshot last" | "only the end";
  /** A filter of the agent has changed what was streamed. */
  readonly isFiltered: boolean;
}

const deltas = fc.array(fc.constantFrom("a", "b", "ab", "☔", "", "\n"), { maxLength: 4 });
const blocks = fc.array(fc.record<Block>({ kind: fc.constantFrom("text", "thinking", "call"), deltas }), { maxLength: 4 });
const turn: fc.Arbitrary<Turn> = fc.record({
  discarded: fc.array(blocks, { maxLength: 2 }),
  blocks,
  seen: fc.constantFrom("deltas", "snapshot first", "snapshot last", "only the end"),
  isFiltered: fc.boolean(),
});
const turns = fc.array(turn, { minLength: 1, maxLength: 3 });
const status = fc.constantFrom<RunStatus>("completed", "failed", "aborted");

const event = (body: object): AgentEvent => body as AgentEvent;

function contentOf(number: number, given: readonly Block[]): readonly AssistantPart[] {
  let calls = 0;
  return given.map(({ kind, deltas: pieces }) => {
    const text = pieces.join("");
    if (kind !== "call") return { type: kind, text };
    calls += 1;
    return { type: "tool_call", callKey: `${runId}.${number}.${calls}`, id: "call_1", name: "look", args: { text } };
  });
}

const streamed = (given: readonly Block[], from = 0): readonly AgentEvent[] =>
  given
    .slice(from)
    .flatMap(({ kind, deltas: pieces }, at) =>
      kind === "call" ? [] : pieces.map((delta) => event({ type: `${kind}_delta`, index: from + at, delta })),
    );

function lastAttempt({ blocks: given, seen }: Turn, number: number): readonly AgentEvent[] {
  const half = Math.ceil(given.length / 2);
  const snapshotOf = (of: readonly Block[]): AgentEvent => event({ type: "message_snapshot", content: contentOf(number, of) });
  if (seen === "only the end") return [];
  if (seen === "deltas") return streamed(given);
  if (seen === "snapshot last") return [...streamed(given.slice(0, half)), snapshotOf(given)];
  return [snapshotOf(given.slice(0, half)), ...streamed(given, half)];
}

/** The events of a run, the durable ones with their places, and its last answer. */
function play(given: readonly Turn[], end: RunStatus): { readonly events: readonly AgentEvent[]; readonly text: string } {
  let seq = 0;
  const durable = (body: object): AgentEvent => {
    seq += 1;
    return event({ ...body, seq, k: 0, at: seq, sessionId: "context-1", runId });
  };
  const events = [
    durable({ type: "input_accepted", inputId: "i1", mode: "enqueue" }),
    durable({ type: "run_start", model: "m", provider: "p" }),
    durable({ type: "message_end", messageId: "1", message: { role: "user", content: "Hello" } }),
  ];
  let text = "";
  given.forEach((one, at) => {
    const number = at + 1;
    events.push(durable({ type: "turn_start", turn: number }));
    for (const attempt of one.discarded) events.push(...streamed(attempt), durable({ type: "attempt_discarded" }));
    const kept = one.isFiltered ? one.blocks.map((block) => (block.kind === "call" ? block : { ...block, deltas: ["kept"] })) : one.blocks;
    const message: Message = { role: "assistant", content: contentOf(number, kept), stopReason: "stop" };
    text = textOf(message);
    events.push(...lastAttempt(one, number), durable({ type: "message_end", messageId: `a${number}`, message, usage: { output: 1 } }));
    for (const part of message.content) {
      if (part.type !== "tool_call") continue;
      const call = { callKey: part.callKey, toolCallId: part.id, toolName: part.name };
      events.push(durable({ type: "tool_execution_start", ...call, args: part.args, attempt: 1 }));
      events.push(durable({ type: "tool_execution_end", ...call, outcome: "ok", output: [{ type: "text", text: "seen" }] }));
    }
    events.push(durable({ type: "turn_end", turn: number }));
  });
  if (end !== "completed") events.push(durable({ type: "error", reason: "error", code: "MODEL_AUTH", error: "No." }));
  events.push(durable({ type: "run_end", status: end, reason: "answer", usage: { output: given.length } }));
  return { events, text };
}

/** Checks a stream as the SDK reads it, and gives what a client has at its end. */
function readBySdk(events: readonly TaskEvent[], known = ""): { readonly text: string; readonly state: string } {
  let text = known;
  let state = "";
  for (const given of events) {
    if (/"(?:session|runId)":/.test(JSON.stringify(given))) throw new Error("A field is none of the protocol.");
    const { payload } = StreamResponse.fromJSON(JSON.parse(JSON.stringify(given)));
    if (!payload || payload.$case === "message") throw new Error("The SDK reads no event of a task.");
    if (["COMPLETED", "FAILED", "CANCELED"].includes(state)) throw new Error("An event follows the end.");
    if (payload.$case === "artifactUpdate") {
      const added = (payload.value.artifact?.parts ?? []).map(({ content }) => (content?.$case === "text" ? content.value : "?")).join("");
      if (payload.value.append && text === "" && added !== "") throw new Error("Text is added to an artifact that there is not.");
      text = payload.value.append ? text + added : added;
      continue;
    }
    const { status: shown } = payload.value;
    state = TaskState[shown?.state ?? TaskState.UNRECOGNIZED].replace("TASK_STATE_", "");
    if (state === "UNRECOGNIZED") throw new Error("The SDK does not know the state.");
  }
  return { text, state };
}

const endStates = { completed: "COMPLETED", failed: "FAILED", aborted: "CANCELED" } as const;

it("gives a stream of any run that the SDK reads, and from which it has the last answer and the end", () => {
  fc.assert(
    fc.property(turns, status, (given, end) => {
      const { events, text } = play(given, end);
      const fold = new TaskFold(ids);
      const sent = [{ task: fold.task() }, ...events.flatMap((one) => fold.take(one))];
      expect(readBySdk(sent)).toEqual({ text, state: endStates[end] });
      const task = fold.task();
      expect(task.artifacts.flatMap(({ parts }) => parts)).toEqual(text === "" ? [] : [{ text }]);
      expect(task.metadata).toEqual({ usage: { output: given.length } });
      const last = sent.map(legacyEvent).at(-1);
      expect(last).toMatchObject({ kind: "status-update", final: true, status: { state: endStates[end].toLowerCase() } });
    }),
    { numRuns: 200 },
  );
});

it("gives a reader that subscribes at any event what it lacks, and the task of the log is the one of the stream", () => {
  fc.assert(
    fc.property(turns, status, fc.nat(), (given, end, at) => {
      const { events, text } = play(given, end);
      const from = at % (events.length - 1);
      const fold = new TaskFold(ids);
      for (const one of events.slice(0, from)) if ("seq" in one) fold.take(one);
      const known = fold.task();
      // What is streamed of a call under way comes as one snapshot to those that join.
      const rest = events.slice(from);
      const isHalf = !("seq" in (rest[0] ?? {}));
      const sent = rest.filter((one, index) => !isHalf || "seq" in one || index > rest.findIndex((other) => "seq" in other));
      const updates = sent.flatMap((one) => fold.take(one));
      const part = known.artifacts[0]?.parts[0];
      expect(readBySdk(updates, part && "text" in part ? part.text : "")).toEqual({ text, state: endStates[end] });
      const ofLog = new TaskFold(ids);
      for (const one of events) if ("seq" in one) ofLog.take(one);
      expect(fold.task()).toEqual(ofLog.task());
    }),
    { numRuns: 200 },
  );
});
