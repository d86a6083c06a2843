import { describe, expect, it } from "vitest";
import { execute, resume } from "../src/index.ts";
import { memoryStore } from "../src/memory/index.ts";
import { manualClock } from "../src/memory/manual-clock.ts";
import type { SessionLog, SessionStore } from "../src/ports/index.ts";
import { calm, deferred, howStands, world } from "./harness.ts";

/** A store whose calls of one kind wait until they are let through. */
function heldStore(inner: SessionStore, kind: "append" | "claim"): { store: SessionStore; reached: Promise<void>; letThrough: () => void } {
  const reached = deferred();
  const gate = deferred();
  const held = async <T>(act: () => Promise<T>): Promise<T> => {
    const value = await act();
    reached.resolve();
    await gate.promise;
    return value;
  };
  const log: SessionLog = {
    ...inner.log,
    ...(kind === "append"
      ? { append: (ref, request) => held(() => inner.log.append(ref, request)) }
      : { claim: (ref, claim) => held(() => inner.log.claim(ref, claim)) }),
  };
  return { store: { ...inner, log }, reached: reached.promise, letThrough: () => gate.resolve() };
}

describe("a session that is let go", () => {
  it("ends the streams that watch it, and leaves the run to the next owner", async () => {
    const { session, again, types } = world([{ text: "never", hang: true }, { text: "done" }]);
    const stream = execute(session, "hi");
    await calm();
    await session[Symbol.asyncDispose]();
    expect(await howStands(stream.result())).toBe("rejected");
    expect(await types()).not.toContain("run.finished");
    const next = again();
    expect((await execute(next, "hi").result()).text).toBe("done");
  });

  it("refuses what comes afterwards", async () => {
    const { session } = world([]);
    await session[Symbol.asyncDispose]();
    expect(await howStands(execute(session, "hi").result())).toBe("rejected");
    expect(await howStands(session.abort())).toBe("rejected");
    expect(await howStands(session.change({ title: "x" }))).toBe("rejected");
  });

  it("is handed over at once also while the intent of a model call is written", async () => {
    const clock = manualClock();
    const held = heldStore(memoryStore({ clock }), "append");
    const { session, types } = world([{ text: "never", hang: true }], { session: { store: held.store, clock } });
    const stream = execute(session, "hi");
    await held.reached;
    const handed = session.handOver();
    held.letThrough();
    expect(await howStands(handed)).toBe("resolved");
    expect((await types()).at(-1)).toBe("model.failed");
    expect(await howStands(stream.result())).toBe("pending");
    await session[Symbol.asyncDispose]();
  });

  it("while its batch is written launches nothing, and settles the callers that offered it", async () => {
    const clock = manualClock();
    const held = heldStore(memoryStore({ clock }), "append");
    const { session, provider } = world([{ text: "no" }], { session: { store: held.store, clock } });
    const stream = execute(session, "hi");
    await held.reached;
    const gone = session[Symbol.asyncDispose]();
    held.letThrough();
    await gone;
    await calm();
    expect(provider.requests).toHaveLength(0);
    expect(await howStands(stream.result())).toBe("rejected");
    expect(clock.pending).toBe(0);
  });

  it("while it claims keeps neither a lease nor a timer", async () => {
    const clock = manualClock();
    const held = heldStore(memoryStore({ clock }), "claim");
    const { session, provider, store } = world([{ text: "no" }], { session: { store: held.store, clock } });
    const ref = { scope: "local", session: "s1" };
    const opened = [
      { type: "session.opened", agent: "tester" },
      { type: "input.accepted", inputId: "i1", runId: "r1", mode: "enqueue", message: { role: "user", content: "hi" } },
    ] as const;
    const facts = opened.map((fact) => ({ ...fact, at: 1, v: 1 }));
    await store.log.append(ref, { expectedSeq: 0, batchId: "b1", facts });
    const stream = resume(session);
    await held.reached;
    const gone = session[Symbol.asyncDispose]();
    held.letThrough();
    await gone;
    await calm();
    expect(provider.requests).toHaveLength(0);
    expect(await howStands(stream.result())).toBe("rejected");
    expect(clock.pending).toBe(0);
    expect(await store.log.read(ref)).toHaveLength(2);
    expect((await store.log.head({ scope: "local", session: "s1" })).lease).toBeUndefined();
  });

  it("while it claims leaves no subscription behind", async () => {
    const inner = memoryStore();
    let listeners = 0;
    const subscribe: SessionLog["subscribe"] = (ref, listener) => {
      const stop = inner.log.subscribe?.(ref, listener);
      listeners += 1;
      return () => {
        listeners -= 1;
        stop?.();
      };
    };
    const held = heldStore({ ...inner, log: { ...inner.log, subscribe } }, "claim");
    const { session } = world([{ text: "no" }], { session: { store: held.store } });
    const stream = execute(session, "hi");
    await held.reached;
    expect(listeners).toBe(1);
    const gone = session[Symbol.asyncDispose]();
    held.letThrough();
    await gone;
    await calm();
    expect(await howStands(stream.result())).toBe("rejected");
    expect(listeners).toBe(0);
  });
});
