import type { DurableEvent } from "@loopwright/core/protocol";
import { expect, it, vi } from "vitest";
import { type LoadRun, runTraces } from "./run-traces.ts";

const event = (seq: number, body: object, runId = "r"): DurableEvent =>
  ({ seq, k: 0, at: seq, sessionId: "s", runId, ...body }) as DurableEvent;
const start = event(1, { type: "run_start", model: "m", provider: "p" });
const verdict = event(2, { type: "verdict", hook: "guard", point: "decide", action: "edit" });
const gate = event(3, { type: "verdict", hook: "guard", point: "gate", action: "deny", callKey: "r.1.0" });
const answer = event(4, {
  type: "message_end",
  messageId: "4",
  parent: null,
  message: { role: "assistant", content: [], stopReason: "stop" },
});
const child = event(5, { type: "agent_start", callKey: "r.1.0", session: "c", agent: "reader" });
const all = [start, verdict, gate, answer, child];

it("a run that is watched from its beginning is not asked for", () => {
  const load = vi.fn<LoadRun>(async () => all);
  const traces = runTraces(load);
  traces.take(all);
  traces.want("r");
  expect(load).not.toHaveBeenCalled();
  const trace = traces.read().get("r");
  expect([...(trace?.verdicts ?? [])].map(([id, list]) => [id, list.length])).toEqual([["4", 1]]);
  expect(trace?.ofCalls.get("r.1.0")).toMatchObject([{ action: "deny" }]);
  expect(trace?.agents).toEqual([{ session: "c", agent: "reader", callKey: "r.1.0", isDone: false }]);
});

it("a run of before is asked for once, and an event that was also watched counts once", async () => {
  const load = vi.fn<LoadRun>(async () => all);
  const traces = runTraces(load);
  traces.take([answer, child]);
  traces.want("r");
  traces.want("r");
  await expect.poll(() => traces.read().get("r")?.verdicts.get("4")).toHaveLength(1);
  traces.take([event(6, { type: "agent_end", callKey: "r.1.0", session: "c", usage: { input: 3 } })]);
  expect(traces.read().get("r")?.agents).toMatchObject([{ isDone: true, usage: { input: 3 } }]);
  expect(load).toHaveBeenCalledTimes(1);
});

it("a failed request is made again for the next one that wants it, and a run without a trace is not kept", async () => {
  const load = vi.fn<LoadRun>().mockRejectedValueOnce(new Error("away")).mockResolvedValue([start, answer]);
  const traces = runTraces(load);
  traces.want("r");
  const loadsWanted = (): number => {
    traces.want("r");
    return load.mock.calls.length;
  };
  await expect.poll(loadsWanted).toBe(2);
  expect(traces.read().size).toBe(0);
});
