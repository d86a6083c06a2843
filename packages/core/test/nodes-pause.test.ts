import { describe, expect, it } from "vitest";
import { createAgent, createSession, execute } from "../src/index.ts";
import { memoryStore } from "../src/memory/index.ts";
import { manualClock } from "../src/memory/manual-clock.ts";
import type { Clock, SessionStore } from "../src/ports/index.ts";
import { calm, type Deferred, deferred } from "./harness.ts";
import { drive, nodes, ref, spokenModel } from "./nodes.ts";
import { stoppable } from "./stoppable-clock.ts";

/** A store one of whose appends is answered only when it is let through, though it was written. */
function answeredLate(inner: SessionStore): { readonly store: SessionStore; hold(): void; letThrough(): void } {
  let gate: Deferred<void> | undefined;
  const append: SessionStore["log"]["append"] = async (...args) => {
    const outcome = await inner.log.append(...args);
    await gate?.promise;
    return outcome;
  };
  return {
    store: { ...inner, log: { ...inner.log, append } },
    hold: () => {
      gate = deferred();
    },
    letThrough: () => gate?.resolve(),
  };
}

describe("a process that stood still", () => {
  it("row 30: launches nothing of a batch that was written before, when another owns the session by now", async () => {
    const { node, store, clock, pass, model, types } = nodes();
    const [mine, own] = [stoppable(clock), spokenModel()];
    const late = answeredLate(store);
    const agent = createAgent({ name: "tester", provider: own.provider });
    const paused = node({ clock: mine, store: late.store, agent });
    late.hold();
    await calm();
    execute(paused, "go");
    await calm();
    expect((await types()).at(-1)).toBe("model.started");
    mine.stop();
    drive(node());
    await pass(60_000, 1_000);
    expect(model).toHaveLength(1);
    // The answer is read before any timer of the process has its turn.
    late.letThrough();
    await calm();
    expect(own.calls).toHaveLength(0);
    mine.wake();
    await calm();
    model[0]?.say("done");
    model[0]?.end();
    await pass(1_000);
    expect(own.calls).toHaveLength(0);
    expect(paused.messages.at(-1)).toMatchObject({ content: [{ text: "done" }] });
    expect((await types()).filter((type) => type === "owner.claimed")).toHaveLength(2);
  });

  it("launches nothing when it stands still while it reads what others appended, and another owns the session by now", async () => {
    const { node, store, clock, pass, model, types } = nodes();
    const [mine, own] = [stoppable(clock), spokenModel()];
    const late = answeredLate(store);
    const gate = deferred();
    let isHeld = false;
    let reads = 0;
    const read: SessionStore["log"]["read"] = async (...args) => {
      const facts = await store.log.read(...args);
      if (!isHeld) return facts;
      reads += 1;
      await gate.promise;
      return facts;
    };
    const agent = createAgent({ name: "tester", provider: own.provider });
    const paused = node({ clock: mine, store: { ...late.store, log: { ...late.store.log, read } }, agent });
    late.hold();
    await calm();
    execute(paused, "go");
    await calm();
    expect((await types()).at(-1)).toBe("model.started");
    await node({ drives: false }).change({ title: "Told by another" });
    isHeld = true;
    late.letThrough();
    await calm();
    expect(reads).toBe(1);
    mine.stop();
    drive(node());
    await pass(60_000, 1_000);
    expect(model).toHaveLength(1);
    // The log is read before any timer of the process has its turn.
    isHeld = false;
    gate.resolve();
    await calm();
    expect(own.calls).toHaveLength(0);
    mine.wake();
    await calm();
    model[0]?.say("done");
    model[0]?.end();
    await pass(1_000);
    expect(own.calls).toHaveLength(0);
    expect(paused.messages.at(-1)).toMatchObject({ content: [{ text: "done" }] });
  });

  it("asks the store before it continues, although its lease is not over: its effects continue when the lease is confirmed", async () => {
    const { node, store, clock, pass, model, types } = nodes();
    const mine = stoppable(clock);
    const gate = deferred();
    let asked = 0;
    let isHeld = false;
    const renew: SessionStore["log"]["renew"] = async (...args) => {
      asked += 1;
      if (isHeld) await gate.promise;
      return store.log.renew(...args);
    };
    const session = node({ clock: mine, store: { ...store, log: { ...store.log, renew } } });
    const stream = execute(session, "go");
    await calm();
    mine.stop();
    isHeld = true;
    await pass(3_600);
    expect(asked).toBe(0);
    mine.wake();
    await calm();
    expect(asked).toBe(1);
    model[0]?.say("here");
    model[0]?.end();
    await calm();
    expect((await types()).at(-1)).toBe("model.started");
    gate.resolve();
    expect((await stream.result()).text).toBe("here");
    expect((await types()).filter((type) => type === "owner.claimed")).toHaveLength(1);
  });

  it("gives up its effects when the store reports that the lease is another's", async () => {
    const { node, store, clock, pass, model, types } = nodes();
    const mine = stoppable(clock);
    const renew = async (): Promise<boolean> => false;
    const session = node({ clock: mine, store: { ...store, log: { ...store.log, renew } } });
    const stream = execute(session, "go");
    await calm();
    mine.stop();
    await pass(3_600);
    mine.wake();
    await calm();
    expect(model[0]?.isClosed).toBe(true);
    expect(model).toHaveLength(2);
    model[1]?.say("again");
    model[1]?.end();
    expect((await stream.result()).text).toBe("again");
    expect((await types()).filter((type) => type === "owner.claimed")).toHaveLength(2);
  });

  it.each([
    [20_000, 2_900, 0],
    [20_000, 3_600, 1],
    [1_000, 130, 0],
    [1_000, 200, 1],
  ])("(lease %i ms) for %i ms asks %i times more whether the lease stands", async (leaseMs, pauseMs, more) => {
    const { node, store, clock, pass } = nodes();
    const mine = stoppable(clock);
    let asked = 0;
    const renew: SessionStore["log"]["renew"] = (...args) => {
      asked += 1;
      return store.log.renew(...args);
    };
    execute(node({ clock: mine, leaseMs, store: { ...store, log: { ...store.log, renew } } }), "go");
    await calm();
    await pass(10, 10);
    mine.stop();
    await pass(pauseMs, 10);
    const before = asked;
    mine.wake();
    await calm();
    expect(asked - before).toBe(more);
  });
});

describe("the watch for pauses", () => {
  it("is one timer for all sessions of a process, and none while no lease is held", async () => {
    const clock = manualClock();
    let running = 0;
    let most = 0;
    const counted: Clock = {
      ...clock,
      after(ms, run, options) {
        if (ms !== 500) return clock.after(ms, run, options);
        running += 1;
        most = Math.max(most, running);
        let isOver = false;
        const end = (): void => {
          if (!isOver) running -= 1;
          isOver = true;
        };
        const cancel = clock.after(
          ms,
          () => {
            end();
            run();
          },
          options,
        );
        return () => {
          end();
          cancel();
        };
      },
    };
    const { provider, calls } = spokenModel();
    const agent = createAgent({ name: "tester", provider });
    const store = memoryStore({ clock: counted });
    const streams = Array.from({ length: 20 }, (_, place) => {
      return execute(createSession({ agent, store, clock: counted, id: `s${place}` }), "go");
    });
    await calm();
    expect([running, most]).toEqual([1, 1]);
    for (let tick = 0; tick < 5; tick++) {
      clock.advance(500);
      await calm();
    }
    expect([running, most]).toEqual([1, 1]);
    for (const call of calls) call.end();
    await Promise.all(streams.map((stream) => stream.result()));
    await calm();
    expect(running).toBe(0);
    expect((await store.log.head({ ...ref, session: "s3" })).lease).toBeUndefined();
  });
});
