import { describe, expect, it, onTestFinished } from "vitest";
import { type AgentSession, defineTool, execute, resume } from "../src/index.ts";
import { memoryStore } from "../src/memory/index.ts";
import { manualClock } from "../src/memory/manual-clock.ts";
import type { SessionStore } from "../src/ports/index.ts";
import { calm, eventsOf, howStands, ofType, world } from "./harness.ts";

const ref = { scope: "local", session: "s1" };
const ask = defineTool({ name: "ask", description: "Asks", parameters: { type: "object" } });

/** Drives the session for as long as the test runs, as a worker does. */
function drive(session: AgentSession): void {
  onTestFinished(session.follow({ events: () => {} }));
}

/** A store whose logs notify no subscriber of an append. */
function silent(store: SessionStore): SessionStore {
  const { subscribe: _, ...log } = store.log;
  return { ...store, log };
}

describe("a handle that does not drive", () => {
  it("records an input, and neither claims nor runs anything", async () => {
    const { again, provider, store, clock, types } = world([{ text: "no" }]);
    const publisher = again({ drives: false });
    const { seq, replayed } = await publisher.submit("hi");
    await calm();
    clock.advance(60_000);
    await calm();
    expect({ seq, replayed }).toEqual({ seq: 2, replayed: false });
    expect(await types()).toEqual(["session.opened", "input.accepted"]);
    expect(provider.requests).toHaveLength(0);
    expect((await store.log.head(ref)).epoch).toBe(0);
    expect(await store.log.due({ now: clock.now() })).toEqual([{ ref, due: 0 }]);
    expect(clock.pending).toBe(0);
  });

  it("sees the run that a driving one makes of it, to its end", async () => {
    const { session, again } = world([{ text: "hello" }]);
    const stream = execute(again({ drives: false }), "hi");
    const read = eventsOf(stream);
    await calm();
    expect(await howStands(stream.result())).toBe("pending");
    drive(session);
    expect((await stream.result()).text).toBe("hello");
    expect(ofType(await read, "run_end")).toHaveLength(1);
  });

  it("sees it also when the log notifies no process, a poll later", async () => {
    const clock = manualClock();
    const store = silent(memoryStore({ clock }));
    const { session, again } = world([{ text: "hello" }], { session: { store, clock } });
    const stream = execute(again({ drives: false }), "hi");
    await calm();
    drive(session);
    await calm();
    expect(await howStands(stream.result())).toBe("pending");
    clock.advance(250);
    expect(await howStands(stream.result())).toBe("resolved");
  });

  it("stops a run that another drives, though it has not looked at the session since", async () => {
    const { session, again } = world([{ text: "half", hang: true }]);
    const publisher = again({ drives: false });
    await publisher.ready();
    const stream = execute(session, "hi");
    await calm();
    expect(publisher.runId).toBeUndefined();
    expect(await publisher.abort()).toBe(true);
    expect((await stream.result()).status).toBe("aborted");
    expect(await publisher.abort()).toBe(false);
  });

  it("answers calls that another has asked, and follows the run that continues", async () => {
    const { session, again, types } = world([{ calls: [{ name: "ask" }] }, { text: "thanks" }], { tools: [ask] });
    const { pendingToolCalls } = await execute(session, "hi").result();
    const [call] = pendingToolCalls ?? [];
    const publisher = again({ drives: false });
    const result = { role: "tool_result", toolCallId: call?.toolCallId ?? "", toolName: "ask", content: "yes" } as const;
    const stream = execute(publisher, [result]);
    await calm();
    expect((await types()).at(-1)).toBe("client.answered");
    drive(session);
    expect((await stream.result()).text).toBe("thanks");
    expect(await publisher.submit([result])).toMatchObject({ replayed: true });
  });

  it("reports an input that any node accepted before as replayed", async () => {
    const { session, again } = world([{ text: "one" }]);
    const { runId } = await session.submit("hi", { idempotencyKey: "k" });
    const publisher = again({ drives: false });
    expect(await publisher.submit("hi", { idempotencyKey: "k" })).toMatchObject({ runId, replayed: true });
    await expect(publisher.submit("other", { idempotencyKey: "k" })).rejects.toMatchObject({ code: "KEY_REUSED" });
  });

  it("never takes over from an owner that is gone; one that drives does", async () => {
    const { session, again, clock, types } = world([{ text: "half", hang: true }, { text: "whole" }]);
    execute(session, "hi");
    await calm();
    await session[Symbol.asyncDispose]();
    const stream = resume(again({ drives: false }));
    for (let second = 0; second < 30; second++) {
      clock.advance(1_000);
      await calm();
    }
    expect(await types()).not.toContain("model.failed");
    drive(again());
    expect((await stream.result()).text).toBe("whole");
  });
});
