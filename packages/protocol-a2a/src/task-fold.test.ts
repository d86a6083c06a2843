import { StreamResponse, TaskState } from "@a2a-js/sdk";
import { JsonRpcTransport } from "@a2a-js/sdk-03/client";
import { type AgentEvent, type RunStatus, textOf } from "@loopwright/core/protocol";
import { type ComposedRun, composedRun, joinedRun, type SimulatedRun, simulatedRuns } from "@loopwright/testing";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { TaskEvent } from "./a2a-task.ts";
import { legacyEvent } from "./legacy-wire.ts";
import { TaskFold } from "./task-fold.ts";

const seeds = fc.integer({ min: 1, max: 2 ** 31 - 1 });
const status = fc.constantFrom<RunStatus>("completed", "failed", "aborted");
// The same sessions in each run of the tests.
const simulated = { numRuns: 40, seed: 16 };

/** As a server has them, with fields that are none of the protocol. */
const idsOf = (runId: string) => ({ taskId: `context-1.${runId}`, contextId: "garden", session: "context-1", runId });

/** The text of the last answer. */
function lastText({ messages }: Pick<ComposedRun, "messages">): string {
  const last = messages.findLast(({ role }) => role === "assistant");
  return last ? textOf(last) : "";
}

/** Checks a stream as the SDK reads it, and gives what a client has at its end. */
function readBySdk(events: readonly TaskEvent[], known = ""): { readonly text: string; readonly state: string } {
  let text = known;
  let state = "";
  for (const given of events) {
    if (/"(?:session|runId)":/.test(JSON.stringify(given))) throw new Error("A field is none of the protocol.");
    const { payload } = StreamResponse.fromJSON(JSON.parse(JSON.stringify(given)));
    if (!payload || payload.$case === "message") throw new Error("The SDK reads no event of a task.");
    if (["COMPLETED", "FAILED", "CANCELED", "INPUT_REQUIRED"].includes(state)) throw new Error("An event follows the end.");
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
    fc.property(seeds, status, (seed, end) => {
      const run = composedRun(seed, { status: end });
      const text = lastText(run);
      const fold = new TaskFold(idsOf(run.runId));
      const sent = [{ task: fold.task() }, ...run.events.flatMap((one) => fold.take(one))];
      expect(readBySdk(sent)).toEqual({ text, state: endStates[end] });
      const task = fold.task();
      expect(task.artifacts.flatMap(({ parts }) => parts)).toEqual(text === "" ? [] : [{ text }]);
      expect(task.metadata).toEqual({ usage: { output: run.turnCount } });
      const last = sent.map(legacyEvent).at(-1);
      expect(last).toMatchObject({ kind: "status-update", final: true, status: { state: endStates[end].toLowerCase() } });
    }),
    { numRuns: 200 },
  );
});

it("gives a reader that subscribes at any event what it lacks, and the task of the log is the one of the stream", () => {
  fc.assert(
    fc.property(seeds, status, fc.nat(), (seed, end, at) => {
      const run = composedRun(seed, { status: end });
      const { events } = run;
      const from = at % (events.length - 1);
      const fold = new TaskFold(idsOf(run.runId));
      for (const one of events.slice(0, from)) if ("seq" in one) fold.take(one);
      const known = fold.task();
      // What is streamed of a call under way comes as one snapshot to those that join.
      const rest = events.slice(from);
      const isHalf = !("seq" in (rest[0] ?? {}));
      const sent = rest.filter((one, index) => !isHalf || "seq" in one || index > rest.findIndex((other) => "seq" in other));
      const updates = sent.flatMap((one) => fold.take(one));
      expect(readBySdk(updates, textIn(known))).toEqual({ text: lastText(run), state: endStates[end] });
      expect(fold.task()).toEqual(taskOfLog(run));
    }),
    { numRuns: 200 },
  );
});

/** The text that a reader of the task has. */
function textIn({ artifacts }: ReturnType<TaskFold["task"]>): string {
  const part = artifacts[0]?.parts[0];
  return part && "text" in part ? part.text : "";
}

function taskOfLog({ runId, events }: { readonly runId: string; readonly events: readonly AgentEvent[] }): ReturnType<TaskFold["task"]> {
  const fold = new TaskFold(idsOf(runId));
  for (const one of events) if ("seq" in one) fold.take(one);
  return fold.task();
}

/** One stream for each execution of the run: the first one, and one after each answer to a question. */
function streamsOf({ runId, executions }: SimulatedRun): readonly (readonly TaskEvent[])[] {
  const fold = new TaskFold(idsOf(runId));
  return executions.map(({ events, result }) => {
    const sent: TaskEvent[] = [{ task: fold.task() }, ...events.flatMap((event) => fold.take(event))];
    return result.status === "awaiting_tool_execution" ? [...sent, ...fold.wait(result)] : sent;
  });
}

/** What the client of 0.3 gives of a stream. */
async function readByLegacySdk(events: readonly TaskEvent[]): Promise<readonly unknown[]> {
  const text = events.map((one) => `data: ${JSON.stringify({ jsonrpc: "2.0", id: 1, result: legacyEvent(one) })}\n\n`).join("");
  const fetchImpl = async (): Promise<Response> => new Response(text, { headers: { "content-type": "text/event-stream" } });
  const transport = new JsonRpcTransport({ endpoint: "http://localhost", fetchImpl });
  const given: unknown[] = [];
  for await (const event of transport.resubscribeTask({ id: "task" })) given.push(event);
  return given;
}

const resultStates = { completed: "COMPLETED", error: "FAILED", aborted: "CANCELED", awaiting_tool_execution: "INPUT_REQUIRED" } as const;

it("gives a stream of each execution of any simulated run that the SDKs of 1.x and 0.3 read, with the answer of its transcript", async () => {
  const ends = new Set<string>();
  await fc.assert(
    fc.asyncProperty(seeds, async (seed) => {
      for (const run of simulatedRuns(seed)) {
        const streams = streamsOf(run);
        for (const [at, sent] of streams.entries()) {
          const [first, ...updates] = sent;
          if (!first || !("task" in first)) throw new Error("The stream does not begin with the task.");
          const read = readBySdk(updates, textIn(first.task));
          const { status: ended = "completed" } = run.executions[at]?.result ?? {};
          expect(read.state).toBe(resultStates[ended]);
          ends.add(read.state);
          const old = await readByLegacySdk(sent);
          expect(old).toEqual(sent.map(legacyEvent));
          expect(old.filter((one) => (one as { readonly final?: boolean }).final === true)).toEqual([old.at(-1)]);
          if (at === streams.length - 1) expect(read.text).toBe(lastText({ messages: run.result.messages }));
        }
        expect(streams.length).toBe(run.executions.length);
      }
    }),
    simulated,
  );
  expect([...ends].sort()).toEqual(["CANCELED", "COMPLETED", "FAILED", "INPUT_REQUIRED"]);
});

it("gives a reader that subscribes to any simulated run, at any fact, the same answer and the same end", () => {
  let joined = 0;
  fc.assert(
    fc.property(seeds, fc.nat(), (seed, number) => {
      for (const run of simulatedRuns(seed)) {
        const { logged, live } = joinedRun(run, number);
        const fold = new TaskFold(idsOf(run.runId));
        for (const event of logged) fold.take(event);
        // Nothing is subscribed to that has ended.
        if (fold.isEnded) continue;
        const known = textIn(fold.task());
        const read = readBySdk(
          live.flatMap((event) => fold.take(event)),
          known,
        );
        expect(read).toEqual({ text: lastText({ messages: run.result.messages }), state: resultStates[run.result.status] });
        expect(fold.task()).toEqual(taskOfLog(run));
        joined += 1;
      }
    }),
    simulated,
  );
  expect(joined).toBeGreaterThan(40);
});
