import { describe, expect, it } from "vitest";
import type { DurableEvent, ToolResultMessage } from "../src/index.ts";
import { defineTool, execute, readHistory } from "../src/index.ts";
import type { SessionStore } from "../src/ports/index.ts";
import { dyingStore } from "./dying-store.ts";
import { calm, deferred, howStands, type World, world } from "./harness.ts";

const ref = { scope: "local", session: "s1" };
const parameters = { type: "object" } as const;
const ask = defineTool({ name: "ask", description: "Asks", parameters });
const answer = (toolCallId: string, content = "yes"): ToolResultMessage => ({ role: "tool_result", toolCallId, content });

async function seqOf({ facts }: World, type: string, nth = 0): Promise<number> {
  return (await facts()).filter((fact) => fact.type === type)[nth]?.seq ?? 0;
}

async function history(store: SessionStore): Promise<readonly DurableEvent[]> {
  const events: DurableEvent[] = [];
  for await (const batch of readHistory(store, ref)) events.push(...batch);
  return events;
}

describe("an input that is submitted", () => {
  it("is in the log when the promise resolves, under the run, input and number it names", async () => {
    const made = world([{ text: "never", hang: true }]);
    const { runId, inputId, seq, replayed } = await made.session.submit("hi");
    const fact = (await made.facts()).find((one) => one.seq === seq);
    expect(fact).toMatchObject({ type: "input.accepted", runId, inputId });
    expect(replayed).toBe(false);
  });

  it("is answered without a subscriber", async () => {
    const { session, types } = world([{ text: "one" }]);
    await session.submit("hi");
    await calm();
    expect(await types()).toContain("run.finished");
    expect(session.snapshot().messages.at(-1)?.message).toMatchObject({ role: "assistant" });
  });

  it("does not resolve before the store has acknowledged it", async () => {
    const { store, again } = world([{ text: "one" }]);
    const acknowledged = deferred();
    const slow: SessionStore = {
      ...store,
      log: { ...store.log, append: async (...args) => acknowledged.promise.then(() => store.log.append(...args)) },
    };
    const submitted = again({ store: slow }).submit("hi");
    expect(await howStands(submitted)).toBe("pending");
    acknowledged.resolve();
    expect(await submitted).toMatchObject({ replayed: false });
  });

  it("is refused when the store fails while it is written, and is not left hanging", async () => {
    const { store, again } = world([{ text: "one" }]);
    const broken: SessionStore = {
      ...store,
      log: {
        ...store.log,
        append: async () => {
          throw new Error("disk gone");
        },
      },
    };
    await expect(again({ store: broken }).submit("hi")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  it("is gone on with when its owner, another process, dies", async () => {
    const { again, store, clock, provider } = world([{ text: "half", hang: true }, { text: "whole" }, { text: "second" }]);
    const dying = dyingStore(store);
    const owner = again({ store: dying });
    await owner.submit("first");
    await calm();
    const other = again();
    await other.submit("second");
    await calm();
    expect(provider.requests).toHaveLength(1);
    dying.kill();
    clock.advance(20_001);
    await calm();
    clock.advance(250);
    await calm();
    expect(other.isResting).toBe(true);
    expect(other.messages.flatMap((message) => (message.role === "assistant" ? message.content : []))).toMatchObject([
      { text: "whole" },
      { text: "second" },
    ]);
  });

  it("is gone on with after an outage of the store, without anybody asking", async () => {
    const { store, again, clock } = world([{ text: "one" }, { text: "two" }]);
    let failures = 0;
    const done = deferred<string>();
    const tool = defineTool({ name: "work", description: "Works", parameters, execute: () => done.promise });
    const flaky: SessionStore = {
      ...store,
      log: {
        ...store.log,
        append: async (...args) => {
          if (failures-- > 0) throw new Error("disk gone");
          return store.log.append(...args);
        },
      },
    };
    const { agent } = world([{ calls: [{ name: "work" }] }, { text: "answered" }], { tools: [tool] });
    const session = again({ store: flaky, agent });
    await session.submit("hi");
    await calm();
    failures = Number.POSITIVE_INFINITY;
    done.resolve("done");
    for (let second = 0; second < 19 && session.lastSeq > 0; second++) {
      clock.advance(1_000);
      await calm();
    }
    failures = 0;
    await calm();
    expect(session.isResting).toBe(true); // Nothing is known of it until the log is read again.
    expect(session.lastSeq).toBe(0);
    clock.advance(1_000);
    await calm();
    clock.advance(20_001);
    await calm();
    clock.advance(250);
    await calm();
    expect((await store.log.read(ref)).at(-1)).toMatchObject({ type: "run.finished", status: "completed" });
    expect(clock.pending).toBe(0);
  });

  it("has a store that stays away asked ever more rarely, at least every five seconds", async () => {
    const { again, store, clock, agent } = world([{ text: "half", hang: true }]);
    let isDown = false;
    let asked = 0;
    const away: SessionStore = {
      ...store,
      log: {
        ...store.log,
        read: async (...args) => {
          if (!isDown) return store.log.read(...args);
          asked += 1;
          throw new Error("disk gone");
        },
      },
    };
    const session = again({ store: away, agent });
    await session.submit("hi");
    await calm();
    isDown = true;
    await store.log.append(ref, {
      expectedSeq: session.lastSeq,
      batchId: "b",
      facts: [{ type: "session.changed", title: "t", at: 1, v: 1 }],
    });
    await calm();
    const waits: number[] = [];
    for (let waited = 0, second = 0; second < 120; second++) {
      const before = asked;
      clock.advance(1_000);
      await calm();
      waited += 1;
      if (asked === before) continue;
      waits.push(waited);
      waited = 0;
    }
    // What runs here is kept for ten seconds; only then is it left to the log.
    expect(waits.slice(0, 9)).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1]);
    expect([...new Set(waits)]).toEqual([1, 2, 4, 5]);
  });

  it("leaves no timer and no lease behind once it is answered", async () => {
    const { session, store, clock } = world([{ text: "one" }]);
    await session.submit("hi");
    await calm();
    expect(clock.pending).toBe(0);
    expect((await store.log.head(ref)).lease).toBeUndefined();
  });

  it("ends with the handle: nothing more is done here", async () => {
    const { session, clock } = world([{ text: "never", hang: true }]);
    await session.submit("hi");
    await calm();
    await session[Symbol.asyncDispose]();
    expect(clock.pending).toBe(0);
    await expect(session.submit("more")).rejects.toMatchObject({ code: "RUN_ABORTED" });
  });

  it("belongs to the user that it names, which may not be of another scope", async () => {
    const { session, facts } = world([{ text: "one" }]);
    await session.submit("hi", { access: { user: "ada", scope: "local", roles: ["admin"] } });
    expect((await facts()).find(({ type }) => type === "input.accepted")).toMatchObject({ access: { user: "ada", roles: ["admin"] } });
    const foreign = session.submit("hi", { access: { user: "eve", scope: "other" } });
    await expect(foreign).rejects.toMatchObject({ code: "FORBIDDEN" });
  });

  it("that is no input is refused by the promise, not by a throw", async () => {
    const { session } = world([]);
    await expect(session.submit("  ")).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(session.submit([])).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  it("that regenerates names the fact that asks for it", async () => {
    const made = world([{ text: "one" }, { text: "two" }]);
    await made.session.submit("hi");
    await calm();
    const [question = ""] = made.session.messageIds;
    const again = await made.session.submit({ regenerate: question });
    expect(again.seq).toBe(await seqOf(made, "input.accepted", 1));
    await calm();
    const event = (await history(made.store)).find(({ seq }) => seq === again.seq);
    expect(event).toMatchObject({ type: "input_accepted", inputId: again.inputId, parent: question, runId: again.runId });
    expect(event).not.toHaveProperty("message");
  });
});

describe("an input that is submitted again under its key", () => {
  it("gives what it gave, also among later inputs and steered ones", async () => {
    const proceed = deferred();
    const { session } = world([{ text: "one", after: proceed.promise }, { text: "two" }, { text: "three" }]);
    const first = await session.submit("first", { idempotencyKey: "a" });
    const steered = await session.submit("steered", { idempotencyKey: "b", mode: "steer" });
    const third = await session.submit("third", { idempotencyKey: "c" });
    expect(steered.runId).toBe(first.runId);
    proceed.resolve();
    await calm();
    const again = await Promise.all([
      session.submit("first", { idempotencyKey: "a" }),
      session.submit("steered", { idempotencyKey: "b", mode: "steer" }),
      session.submit("third", { idempotencyKey: "c" }),
    ]);
    expect(again).toEqual([first, steered, third].map((one) => ({ ...one, replayed: true })));
  });

  it("at the same moment is one input", async () => {
    const { session, facts } = world([{ text: "one" }]);
    const [a, b] = await Promise.all([session.submit("hi", { idempotencyKey: "k" }), session.submit("hi", { idempotencyKey: "k" })]);
    expect(b).toEqual({ ...a, replayed: true });
    expect((await facts()).filter(({ type }) => type === "input.accepted")).toHaveLength(1);
  });

  it("names the run of its own that a steered input got which came too late", async () => {
    const { session } = world([{ text: "half", hang: true }, { text: "own" }]);
    const first = await session.submit("first");
    await calm();
    const steered = await session.submit("late", { mode: "steer", idempotencyKey: "k" });
    expect(steered.runId).toBe(first.runId);
    await session.abort();
    await calm();
    const again = await session.submit("late", { mode: "steer", idempotencyKey: "k" });
    expect(again).toEqual({ ...steered, runId: steered.inputId, replayed: true });
    expect(session.snapshot().lastRun).toMatchObject({ runId: steered.inputId, status: "completed" });
  });

  it("is refused for another message, and for another place in the tree", async () => {
    const { session } = world([{ text: "one" }, { text: "two" }, { text: "three" }]);
    await session.submit("first", { idempotencyKey: "a" });
    await calm();
    await session.submit("second", { idempotencyKey: "b" });
    await calm();
    const [one = "", , two = ""] = session.messageIds;
    await session.submit({ regenerate: two }, { idempotencyKey: "c" });
    await calm();
    const reused = { code: "KEY_REUSED" };
    await expect(session.submit("other", { idempotencyKey: "a" })).rejects.toMatchObject(reused);
    await expect(session.submit({ regenerate: one }, { idempotencyKey: "c" })).rejects.toMatchObject(reused);
    await expect(session.submit("second", { idempotencyKey: "b", parent: null })).rejects.toMatchObject(reused);
    expect(await session.submit({ regenerate: two }, { idempotencyKey: "c" })).toMatchObject({ replayed: true });
  });

  it("is answered after the session was closed, where a new one is refused", async () => {
    const { session } = world([{ text: "one" }]);
    const first = await session.submit("hi", { idempotencyKey: "k" });
    await calm();
    await session.end();
    expect(await session.submit("hi", { idempotencyKey: "k" })).toEqual({ ...first, replayed: true });
    await expect(session.submit("new")).rejects.toMatchObject({ code: "SESSION_CLOSED" });
  });

  it("gives the true end of its run, whatever ran since", async () => {
    const { session, again } = world([{ error: "MODEL_AUTH" }, { text: "two" }, { text: "half", hang: true }, { text: "four" }]);
    const failed = await execute(session, "first", { idempotencyKey: "a" }).result();
    await execute(session, "second").result();
    const stopped = execute(session, "third", { idempotencyKey: "c" });
    await calm();
    await stopped.abort("enough");
    await stopped.result();
    await execute(session, "fourth").result();
    for (const handle of [session, again()]) {
      const first = await execute(handle, "first", { idempotencyKey: "a" }).result();
      expect(first).toMatchObject({ status: "error", error: { code: "MODEL_AUTH" }, runId: failed.runId });
      const third = await execute(handle, "third", { idempotencyKey: "c" }).result();
      expect(third).toMatchObject({ status: "aborted", text: "half", error: { code: "RUN_ABORTED" } });
    }
  });

  it("shows which limit its run had reached", async () => {
    const work = defineTool({ name: "work", description: "Works", parameters, execute: () => "done" });
    const script = [{ calls: [{ name: "work" }] }, { text: "enough" }, { text: "later" }];
    const { session } = world(script, { tools: [work], limits: { turnsMax: 2 } });
    const first = await execute(session, "hi", { idempotencyKey: "k" }).result();
    await execute(session, "more").result();
    expect(first.limit).toEqual({ which: "turns", value: 2 });
    expect((await execute(session, "hi", { idempotencyKey: "k" }).result()).limit).toEqual(first.limit);
  });

  it("that waited when the session was closed was aborted", async () => {
    const { session } = world([{ text: "half", hang: true }]);
    await session.submit("first");
    await session.submit("second", { idempotencyKey: "k" });
    await calm();
    await session.end();
    const result = await execute(session, "second", { idempotencyKey: "k" }).result();
    expect(result).toMatchObject({ status: "aborted", messages: [] });
  });
});

describe("results that are submitted", () => {
  const two = [
    {
      calls: [
        { name: "ask", id: "a" },
        { name: "ask", id: "b" },
      ],
    },
    { text: "thanks" },
    { text: "later" },
  ];

  it("in parts each name their own fact, and are accepted once", async () => {
    const made = world(two, { tools: [ask] });
    const { session } = made;
    const { runId } = await session.submit("hi");
    await calm();
    const [a, b] = [await session.submit([answer("a")]), await session.submit([answer("b")])];
    expect(a).toEqual({ runId, seq: await seqOf(made, "client.answered", 0), replayed: false });
    expect(b).toEqual({ runId, seq: await seqOf(made, "client.answered", 1), replayed: false });
    await calm();
    await session.submit("later");
    await calm();
    expect(await session.submit([answer("a")])).toEqual({ ...a, replayed: true });
    expect(await session.submit([answer("b")])).toEqual({ ...b, replayed: true });
    expect(await session.submit([answer("b"), answer("a")])).toEqual({ ...a, replayed: true });
  });

  it("of which some are known name the first that the log has", async () => {
    const made = world(two, { tools: [ask] });
    await made.session.submit("hi");
    await calm();
    const a = await made.session.submit([answer("a")]);
    expect(await made.session.submit([answer("b"), answer("a")])).toEqual(a);
  });

  it("of an earlier run get the events of that run, also from another branch", async () => {
    const { session } = world(two, { tools: [ask] });
    await session.submit("hi");
    await calm();
    const both = await session.submit([answer("a"), answer("b")]);
    await calm();
    await session.moveHead(null);
    await session.submit("elsewhere");
    await calm();
    expect(await session.submit([answer("a"), answer("b")])).toEqual({ ...both, replayed: true });
    await expect(session.submit([answer("a", "no")])).rejects.toMatchObject({ code: "CALL_ANSWERED" });
    await expect(session.submit([{ ...answer("a"), isError: true }])).rejects.toMatchObject({ code: "CALL_ANSWERED" });
    await expect(session.submit([answer("nobody")])).rejects.toMatchObject({ code: "CALL_UNKNOWN" });
  });
});

describe("what is refused, or accepted already,", () => {
  it("leaves no trace in the log of a session that rests", async () => {
    const made = world([{ text: "one" }, { text: "two" }]);
    const first = await made.session.submit("hi", { idempotencyKey: "k" });
    await calm();
    const before = await made.types();
    const otherUser: ToolResultMessage = { role: "tool_result", toolCallId: "call-unknown", content: "x" };
    for (const session of [made.session, made.again()]) {
      await expect(session.submit([otherUser])).rejects.toMatchObject({ code: "CALL_UNKNOWN" });
      await expect(session.submit("hi", { parent: "999" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
      expect(await session.submit("hi", { idempotencyKey: "k" })).toEqual({ ...first, replayed: true });
      await calm();
      expect(session.isResting).toBe(true);
    }
    expect(await made.types()).toEqual(before);
    expect((await made.store.log.head({ scope: "local", session: "s1" })).lease).toBeUndefined();
    expect(await made.session.submit("again")).toMatchObject({ replayed: false });
    await calm();
    expect((await made.types()).filter((type) => type === "run.finished")).toHaveLength(2);
  });
});

describe("the author of an abort", () => {
  it("before its run has begun stops that run", async () => {
    const { session, provider } = world([{ text: "never" }]);
    const submitted = session.submit("hi");
    const aborting = session.abort("changed my mind", { by: "ada" });
    await submitted;
    expect(await aborting).toBe(true);
    await calm();
    expect(provider.requests).toHaveLength(0);
    expect(session.snapshot()).toMatchObject({ status: "idle", lastRun: { status: "aborted", reason: "changed my mind" } });
    expect(await session.abort()).toBe(false);
  });

  it("is named in the log", async () => {
    const { session, facts } = world([{ text: "half", hang: true }]);
    await session.submit("hi");
    await calm();
    expect(await session.abort("enough", { by: "ada" })).toBe(true);
    expect((await facts()).find(({ type }) => type === "abort.requested")).toMatchObject({ reason: "enough", by: "ada" });
  });
});
