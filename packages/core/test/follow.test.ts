import { describe, expect, it, onTestFinished } from "vitest";
import type { AgentError, AgentSession, SessionEvent } from "../src/index.ts";
import { defineTool, execute } from "../src/index.ts";
import type { SessionStore } from "../src/ports/index.ts";
import { calm, deferred, type World, world } from "./harness.ts";

const ref = { scope: "local", session: "s1" };
const parameters = { type: "object" } as const;

/** What a follower received. */
interface Published {
  readonly events: SessionEvent[];
  readonly runIds: (string | undefined)[];
  rests: number;
  readonly lost: AgentError[];
  readonly stop: () => void;
}

function followed(session: AgentSession): Published {
  const events: SessionEvent[] = [];
  const runIds: (string | undefined)[] = [];
  const lost: AgentError[] = [];
  const published: Published = {
    events,
    runIds,
    rests: 0,
    lost,
    stop: session.follow({
      events(news, runId) {
        events.push(...news);
        runIds.push(runId);
      },
      rested: () => void published.rests++,
      lost: (error) => void lost.push(error),
    }),
  };
  onTestFinished(published.stop);
  return published;
}

const typesOf = ({ events }: Published): readonly string[] => events.map(({ type }) => type);

/** A store whose reads fail once `isDown` is set. */
function fragile(store: SessionStore): { readonly store: SessionStore; isDown: boolean } {
  const control = {
    isDown: false,
    store: {
      ...store,
      log: {
        ...store.log,
        read: async (...args: Parameters<SessionStore["log"]["read"]>) => {
          if (control.isDown) throw new Error("disk gone");
          return store.log.read(...args);
        },
        append: async (...args: Parameters<SessionStore["log"]["append"]>) => {
          if (control.isDown) throw new Error("disk gone");
          return store.log.append(...args);
        },
      },
    },
  };
  return control;
}

describe("a follower of a session", () => {
  it("that is not loaded yet gets the events from now on, and none from before", async () => {
    const { session, again } = world([{ text: "one" }, { text: "two" }]);
    await execute(session, "first").result();
    const other = again();
    const published = followed(other);
    await other.ready();
    const { lastSeq } = other;
    await execute(session, "second").result();
    await calm();
    const seqs = published.events.flatMap((event) => ("seq" in event ? [event.seq] : []));
    expect(Math.min(...seqs)).toBeGreaterThan(lastSeq);
    expect(typesOf(published)).toContain("run_end");
    expect(typesOf(published).filter((type) => type === "run_start")).toHaveLength(1);
  });

  it("that was loaded long ago gets the events of other handles since then", async () => {
    const { session, again } = world([{ text: "one" }, { text: "two" }]);
    await execute(session, "first").result();
    const other = again();
    await other.ready();
    const { lastSeq } = other;
    await execute(session, "second").result();
    await calm();
    const published = followed(other);
    await calm();
    expect(other.lastSeq).toBe(session.lastSeq);
    const seqs = published.events.flatMap((event) => ("seq" in event ? [event.seq] : []));
    expect(Math.min(...seqs)).toBeGreaterThan(lastSeq);
    expect(typesOf(published)).toContain("run_end");
  });

  it("gets `rested` at once, and again after every run", async () => {
    const { session } = world([{ text: "one" }]);
    const published = followed(session);
    await calm();
    expect(published.rests).toBe(1);
    await execute(session, "hi").result();
    await calm();
    expect(published.rests).toBeGreaterThan(1);
    expect(session.isResting).toBe(true);
  });

  it("gets no `rested` while a run is in progress, and gets it while the run waits for its caller", async () => {
    const proceed = deferred();
    const ask = defineTool({ name: "ask", description: "Asks", parameters });
    const { session } = world([{ calls: [{ name: "ask" }], after: proceed.promise }], { tools: [ask] });
    await session.ready();
    const published = followed(session);
    await calm();
    const before = published.rests;
    await session.submit("hi");
    await calm();
    expect(published.rests).toBe(before);
    proceed.resolve();
    await calm();
    expect(published.rests).toBe(before + 1);
    expect(session.snapshot().status).toBe("waiting");
  });

  it("gets the same events as another one, each batch of one run or of none", async () => {
    const { session } = world([{ text: "one" }, { text: "two" }]);
    const [a, b] = [followed(session), followed(session)];
    await session.submit("first");
    await session.submit("second");
    await session.change({ title: "t" });
    await calm();
    expect(a.events).toEqual(b.events);
    expect(a.events.length).toBeGreaterThan(10);
    const durable = a.events.filter((event) => "seq" in event);
    expect(durable.some((event) => event.type === "session_changed")).toBe(true);
    expect(new Set(a.runIds).size).toBe(3);
  });

  it("disturbs neither the session nor the others when it throws", async () => {
    const lines: unknown[] = [];
    const { session } = world([{ text: "one" }], { session: { logger: { log: (...line) => lines.push(line) } } });
    const trouble = (): never => {
      throw new Error("a follower's own trouble");
    };
    onTestFinished(session.follow({ events: trouble, rested: trouble, lost: trouble }));
    const published = followed(session);
    expect((await execute(session, "hi").result()).text).toBe("one");
    await calm();
    expect(typesOf(published)).toContain("run_end");
    await session[Symbol.asyncDispose]();
    expect(published.lost).toHaveLength(1);
    const reported = {
      scope: "local",
      session: "s1",
      error: expect.objectContaining({ name: "Error", message: "a follower's own trouble" }),
    };
    expect(lines).toContainEqual(["error", "A listener of the session threw an error.", reported]);
  });

  it("that has left gets nothing more, not even in the round in which it leaves", async () => {
    const { session } = world([{ text: "one" }]);
    await session.ready();
    const received: string[] = [];
    let stopSecond = (): void => {};
    const stopFirst = session.follow({
      events: () => {},
      rested() {
        received.push("first");
        stopFirst();
        stopSecond();
      },
    });
    stopSecond = session.follow({ events: () => received.push("events"), rested: () => received.push("second") });
    await calm();
    await execute(session, "hi").result();
    await calm();
    expect(received).toEqual(["first"]);
  });

  it("continues a run that its owner has left behind", async () => {
    const { session, again, clock } = world([{ text: "half", hang: true }, { text: "whole" }]);
    await session.submit("hi");
    await calm();
    await session[Symbol.asyncDispose]();
    const heir = again();
    const published = followed(heir);
    await calm();
    clock.advance(15_001);
    await calm();
    expect(typesOf(published)).toContain("attempt_discarded");
    expect(heir.snapshot().messages.at(-1)?.message).toMatchObject({ role: "assistant", content: [{ text: "whole" }] });
  });

  it("of an idle session notices what others append to a log without `subscribe`", async () => {
    const { again, store, clock, session } = world([{ text: "one" }]);
    await execute(session, "hi").result();
    const { subscribe: _, ...deafLog } = store.log;
    const published = followed(again({ store: { ...store, log: deafLog } }));
    await calm();
    await session.change({ title: "a title" });
    await calm();
    expect(typesOf(published)).toEqual([]);
    clock.advance(250);
    await calm();
    expect(typesOf(published)).toEqual(["session_changed"]);
  });
});

describe("the snapshot of each open lane", () => {
  it("is given on request, of all runs or of one", async () => {
    const { session } = world([{ text: "half an answer", hang: true }]);
    const { runId } = await session.submit("hi");
    await calm();
    const lanes = session.lanes();
    expect(lanes).toMatchObject([{ type: "message_snapshot", content: [{ type: "text", text: "half an answer" }] }]);
    expect(session.snapshot().run?.answering).toBe(lanes[0]?.lane);
    expect(session.lanes(runId)).toEqual(lanes);
    expect(session.lanes("another")).toEqual([]);
    await session.abort();
    await calm();
    expect(session.lanes()).toEqual([]);
  });

  it("holds the steps of a tool as they are now, for a reader that joins late", async () => {
    const gate = deferred<void>();
    const reads = defineTool({
      name: "reads",
      description: "Reads.",
      parameters,
      async execute(_: unknown, { progress }) {
        progress("Looking").end();
        progress("Reading");
        await gate.promise;
        return "read";
      },
    });
    const { session } = world([{ calls: [{ name: "reads" }] }, { text: "ok" }], { tools: [reads] });
    await session.submit("hi");
    await calm();
    const steps = [
      { id: "1", title: "Looking", state: "done" },
      { id: "2", title: "Reading", state: "open" },
    ];
    expect(session.lanes()).toMatchObject([{ type: "tool_execution_snapshot", progress: steps }]);
    gate.resolve();
    await calm();
    expect(session.lanes()).toEqual([]);
  });
});

describe("a follower that loses its session", () => {
  const removed = { code: "SESSION_CLOSED", message: "The session `s1` was removed." };

  async function idle(options: Partial<World> = {}): Promise<World> {
    const made = { ...world([{ text: "one" }, { text: "two" }]), ...options };
    await execute(made.session, "hi").result();
    return made;
  }

  it("gets `lost` when the session is removed while it is idle", async () => {
    const { session, store, clock } = await idle();
    const published = followed(session);
    await calm();
    await store.log.remove(ref);
    await calm();
    expect(published.lost).toMatchObject([removed]);
    expect(clock.pending).toBe(0);
  });

  it("gets `lost` when another process removes the session, on a log without `subscribe`", async () => {
    const { again, store, clock } = await idle();
    const { subscribe: _, ...deafLog } = store.log;
    const published = followed(again({ store: { ...store, log: deafLog } }));
    await calm();
    await store.log.remove(ref);
    await calm();
    expect(published.lost).toEqual([]);
    clock.advance(250);
    await calm();
    expect(published.lost).toMatchObject([removed]);
  });

  it("gets `lost` when the session is removed during a run, which stops at once", async () => {
    const { session, store, clock, provider } = world([{ text: "half", hang: true }]);
    const published = followed(session);
    await session.submit("hi");
    await calm();
    await store.log.remove(ref);
    await calm();
    expect(published.lost).toMatchObject([removed]);
    expect(session.lanes()).toEqual([]);
    expect(clock.pending).toBe(0);
    expect(provider.requests).toHaveLength(1);
    await expect(session.submit("again")).rejects.toMatchObject({ code: "SESSION_CLOSED" });
  });

  it("gets nothing more; the handle can be used again, and a new follower misses no later event", async () => {
    const { again, store } = await idle();
    const fault = fragile(store);
    const session = again({ store: fault.store });
    const published = followed(session);
    await calm();
    fault.isDown = true;
    await expect(session.change({ title: "x" })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(published.lost).toMatchObject([{ code: "STORE_UNAVAILABLE" }]);
    const [before, rests] = [published.events.length, published.rests];
    fault.isDown = false;
    const anew = followed(session);
    await calm();
    expect((await execute(session, "again").result()).text).toBe("two");
    await calm();
    expect([published.events.length, published.rests, published.lost.length]).toEqual([before, rests, 1]);
    expect(typesOf(anew)).toContain("run_end");
    expect(anew.lost).toEqual([]);
  });

  it("gets `lost` when the handle is disposed of, and so does a follower of a handle that was disposed of before", async () => {
    const { session } = await idle();
    const published = followed(session);
    await calm();
    await session[Symbol.asyncDispose]();
    expect(published.lost).toMatchObject([{ message: "The session handle was disposed of." }]);
    const late = followed(session);
    await calm();
    expect(late.lost).toMatchObject([{ message: "The session handle was disposed of." }]);
    expect(late.rests).toBe(0);
  });

  it("by disposing of the handle gets no event of a batch that the store acknowledges afterwards", async () => {
    const { again, store } = await idle();
    const acknowledged = deferred();
    let isSlow = false;
    const slow: SessionStore = {
      ...store,
      log: {
        ...store.log,
        append: async (...args) => {
          const outcome = await store.log.append(...args);
          if (isSlow) await acknowledged.promise;
          return outcome;
        },
      },
    };
    const session = again({ store: slow });
    const published = followed(session);
    await session.ready();
    await calm();
    isSlow = true;
    const changed = session.change({ title: "late" }).catch(() => {});
    await calm();
    await session[Symbol.asyncDispose]();
    acknowledged.resolve();
    await changed;
    await calm();
    expect(typesOf(published)).toEqual([]);
    expect(published.lost).toHaveLength(1);
  });
});
