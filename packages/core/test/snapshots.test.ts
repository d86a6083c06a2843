import { simulateLoop } from "@loopwright/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { foldReadFacts } from "../src/driver/log/fold-read-facts.ts";
import { snapshotOf } from "../src/driver/session/public-snapshot.ts";
import type { DurableEvent, Fact, SessionEvent, SessionSnapshot } from "../src/index.ts";
import { createSession, defineTool, execute, readHistory } from "../src/index.ts";
import { endOf, type State } from "../src/loop/state.ts";
import { transcriptOf } from "../src/loop/transcript.ts";
import { memoryStore } from "../src/memory/index.ts";
import { manualClock } from "../src/memory/manual-clock.ts";
import { addSpent, type Spent } from "../src/message/usage.ts";
import type { SessionStore } from "../src/ports/index.ts";
import { appendLimits } from "../src/ports/session-log.ts";
import { compareCursors, decodeCursor, type EventCursor } from "../src/protocol/index.ts";
import { pathOf } from "../src/protocol/path-of.ts";
import { calm, deferred, world } from "./harness.ts";

const parameters = { type: "object" } as const;
const seeds = fc.integer({ min: 1, max: 2 ** 31 - 1 });

/** What a reader makes of events alone. */
class Reader {
  readonly messages = new Map<string, { readonly parent: string | null; readonly runId: string | undefined }>();
  readonly spentByRun = new Map<string, Spent>();
  readonly waiting = new Map<number, string>();
  spent: Spent = {};
  head: string | null = null;
  movedHead: string | null | undefined;
  openRun: string | undefined;
  lastEnd: { readonly runId: string; readonly status: string; readonly reason: string } | undefined;

  /** What a session begins with is shown by snapshots alone. */
  begin({ messages, head }: SessionSnapshot): void {
    for (const { id, parent, runId } of messages) this.messages.set(id, { parent, runId });
    this.head = head;
  }

  read(event: DurableEvent): void {
    const { runId = "" } = event;
    switch (event.type) {
      case "input_accepted":
        if (event.message) this.waiting.set(event.seq, event.inputId);
        return;
      case "run_start":
        this.openRun = runId;
        return;
      case "head_moved":
        if (this.openRun === undefined) this.head = event.to;
        else this.movedHead = event.to;
        return;
      case "message_end":
        this.messages.set(event.messageId, { parent: event.parent, runId: event.runId });
        this.waiting.delete(Number(event.messageId));
        this.head = event.messageId;
        this.spend(runId, event);
        return;
      case "attempt_discarded":
      case "tool_execution_end":
      case "agent_end":
      case "context_compacted":
      case "expense":
        this.spend(runId, event);
        return;
      case "run_end":
        expect({ usage: event.usage, cost: event.cost }, "what a run says it spent").toEqual({
          ...{ usage: undefined, cost: undefined },
          ...this.spentByRun.get(runId),
        });
        this.lastEnd = { runId, status: event.status, reason: event.reason };
        if (this.movedHead !== undefined) this.head = this.movedHead;
        this.movedHead = this.openRun = undefined;
        return;
      default:
        return;
    }
  }

  private spend(runId: string, { usage, cost }: Spent): void {
    this.spent = addSpent(this.spent, { usage, cost });
    this.spentByRun.set(runId, addSpent(this.spentByRun.get(runId) ?? {}, { usage, cost }));
  }
}

function claimAgreement(state: State, reader: Reader): void {
  const snapshot = snapshotOf(state, "s");
  expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot);
  expect(new Map(snapshot.messages.map(({ id, parent, runId }) => [id, { parent, runId }]))).toEqual(reader.messages);
  expect(snapshot.head).toBe(reader.head);
  expect(snapshot.run?.movedHead).toBe(reader.movedHead);
  expect(pathOf(snapshot).map(({ message }) => message)).toEqual(transcriptOf(state).messages);
  expect({ usage: snapshot.usage, cost: snapshot.cost }).toEqual({ usage: reader.spent.usage, cost: reader.spent.cost });
  expect([...snapshot.waiting.map(({ inputId }) => inputId)].sort()).toEqual([...reader.waiting.values()].sort());
  expect(snapshot.run?.runId).toBe(reader.openRun);
  expect(snapshot.lastRun).toEqual(reader.lastEnd && expect.objectContaining(reader.lastEnd));
  if (reader.lastEnd) expect(endOf(state, reader.lastEnd.runId)).toMatchObject(reader.lastEnd);
}

describe("at every moment of any session", () => {
  it("the snapshot agrees with the transcript, and with what a reader of the events has made of them", () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const { facts, states } = simulateLoop(seed);
        const reader = new Reader();
        facts.forEach((fact, i) => {
          const state = states[i + 1] as State;
          const { events } = foldReadFacts(states[i] as State, [fact], "s");
          if (fact.type === "session.opened") reader.begin(snapshotOf(state, "s"));
          for (const event of events) reader.read(event);
          claimAgreement(state, reader);
        });
      }),
      { numRuns: 60 },
    );
  });

  it("its cursor stands after every event that was published and before every later one", () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const { facts, states } = simulateLoop(seed, { steps: 30 });
        facts.forEach((fact, i) => {
          const before = decodeCursor(snapshotOf(states[i] as State, "s").cursor) as EventCursor;
          const after = decodeCursor(snapshotOf(states[i + 1] as State, "s").cursor) as EventCursor;
          for (const event of foldReadFacts(states[i] as State, [fact], "s").events) {
            expect(compareCursors(event, before)).toBeGreaterThan(0);
            expect(compareCursors(event, after)).toBeLessThan(0);
          }
        });
      }),
      { numRuns: 40 },
    );
  });
});

const ref = { scope: "local", session: "s1" };

async function storeWith(facts: readonly Fact[]): Promise<SessionStore> {
  const store = memoryStore();
  for (let from = 0; from < facts.length; from += appendLimits.facts)
    await store.log.append(ref, { expectedSeq: from, batchId: `b${from}`, facts: facts.slice(from, from + appendLimits.facts) });
  return store;
}

async function historyOf(store: SessionStore, after?: EventCursor): Promise<readonly DurableEvent[]> {
  const events: DurableEvent[] = [];
  for await (const batch of readHistory(store, ref, after ? { after } : {})) events.push(...batch);
  return events;
}

describe("the history of a session", () => {
  it("after any cursor is the rest of the whole, whether or not an event stands there", async () => {
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const store = await storeWith(simulateLoop(seed, { steps: 40 }).facts);
        const all = await historyOf(store);
        expect(await historyOf(store, { seq: 0, k: 0 })).toEqual(all);
        const last = all.at(-1)?.seq ?? 0;
        for (const after of [...all, { seq: last, k: 65_535 }, { seq: last + 9, k: 0 }, { seq: 3, k: 7 }])
          expect(await historyOf(store, after)).toEqual(all.filter((event) => compareCursors(event, after) > 0));
      }),
      { numRuns: 8 },
    );
  });

  it("is read in parts where it is long", async () => {
    const { session, store } = world([]);
    await session.open();
    for (let i = 0; i < 600; i += 60) await Promise.all(Array.from({ length: 60 }, (_, k) => session.change({ title: `t${i + k}` })));
    const sizes: number[] = [];
    for await (const batch of readHistory(store, ref)) sizes.push(batch.length);
    // The first page holds the opening of the session, which reports nothing.
    expect(sizes).toEqual([31, 64, 128, 256, 121]);
  });

  it("is what followers got live: the owner's and another's", async () => {
    const ask = defineTool({ name: "ask", description: "Asks", parameters });
    const work = defineTool({
      name: "work",
      description: "Works",
      parameters,
      execute: (_, { addUsage }) => {
        addUsage({ input: 3, output: 1 });
        return { done: true };
      },
    });
    const proceed = deferred();
    const script = [
      {
        text: "let me",
        calls: [{ name: "work" }, { name: "work" }, { name: "ask", id: "a" }],
        after: proceed.promise,
        usage: { input: 9, output: 2 },
      },
      { text: "half", error: "MODEL_OVERLOADED" as const },
      { text: "done", usage: { input: 20, output: 3 } },
      { text: "again" },
      { text: "stopped", hang: true },
    ];
    const { session, again, store, clock } = world(script, { tools: [work, ask] });
    const published = new Map<string, DurableEvent[]>();
    for (const [name, handle] of [
      ["owner", session],
      ["other", again()],
    ] as const) {
      const events: DurableEvent[] = [];
      published.set(name, events);
      handle.follow({ events: (news) => void events.push(...news.filter((event): event is DurableEvent => "seq" in event)) });
      await handle.ready();
    }
    await session.submit("first");
    await session.submit("steered", { mode: "steer" });
    await session.submit("queued");
    proceed.resolve();
    await calm();
    await session.submit([{ role: "tool_result", toolCallId: "a", content: "yes" }]);
    for (let round = 0; round < 4; round++) {
      await calm();
      clock.advance(30_000);
    }
    await calm();
    const [question = ""] = session.messageIds;
    await session.submit({ regenerate: question });
    await calm();
    await session.moveHead(question);
    await session.abort();
    await session.change({ title: "t", metadata: { a: 1 } });
    await calm();
    const all = await historyOf(store);
    expect(all.length).toBeGreaterThan(40);
    for (const name of ["attempt_discarded", "head_moved", "aborting", "run_end", "awaiting_tool_execution"])
      expect(all.map(({ type }) => type)).toContain(name);
    expect(published.get("owner")).toEqual(all);
    expect(published.get("other")).toEqual(all);
    expect(session.snapshot()).toEqual((await again().ready()).snapshot());
  });

  it("of an unknown session is empty", async () => {
    expect(await historyOf(memoryStore())).toEqual([]);
  });

  it("of a damaged log ends with SESSION_CORRUPT, not with less", async () => {
    const facts = simulateLoop(7).facts;
    const whole = await storeWith(facts);
    const log = {
      ...whole.log,
      read: async (...args: Parameters<typeof whole.log.read>) => (await whole.log.read(...args)).filter(({ seq }) => seq !== 5),
    };
    await expect(historyOf({ ...whole, log })).rejects.toMatchObject({ code: "SESSION_CORRUPT" });
  });
});

describe("a snapshot", () => {
  it("before anything is read or written is empty, and its cursor stands before everything", () => {
    const { session } = world([]);
    const snapshot = session.snapshot();
    expect(snapshot).toMatchObject({ sessionId: "s1", status: "idle", messages: [], head: null, waiting: [] });
    expect(compareCursors(decodeCursor(snapshot.cursor) as EventCursor, { seq: 1, k: 0 })).toBeLessThan(0);
  });

  it("shows an edited message and an answer given again as branches of one tree", async () => {
    const { session } = world([{ text: "Paris." }, { text: "Paris!" }, { text: "Rome." }]);
    await execute(session, "France?").result();
    const [question = "", answer = ""] = session.messageIds;
    const published: SessionEvent[] = [];
    session.subscribe((events) => published.push(...events));
    await execute(session, { regenerate: question }).result();
    await execute(session, "Italy?", { parent: null }).result();
    const { messages, head } = session.snapshot();
    const parents = Object.fromEntries(messages.map(({ id, parent }) => [id, parent]));
    const [, , second = "", edited = "", last = ""] = messages.map(({ id }) => id);
    expect(parents).toEqual({ [question]: null, [answer]: question, [second]: question, [edited]: null, [last]: edited });
    expect(head).toBe(last);
    const ends = published.flatMap((event) => (event.type === "message_end" ? [[event.messageId, event.parent]] : []));
    expect(Object.fromEntries(ends)).toEqual({ [second]: question, [edited]: null, [last]: edited });
  });

  it("shows what runs, what waits and where the head will go", async () => {
    const done = deferred<string>();
    const work = defineTool({ name: "work", description: "Works", parameters, execute: () => done.promise });
    const { session, clock } = world([{ text: "one" }, { calls: [{ name: "work", id: "w", args: { a: 1 } }] }, { text: "two" }], {
      tools: [work],
    });
    await session.submit("first");
    await calm();
    const [question = null] = session.messageIds;
    const { runId } = await session.submit("second", { model: "scripted-2" });
    await calm();
    const steered = await session.submit("also", { mode: "steer" });
    const queued = await session.submit("then", { parent: question });
    await session.moveHead(question);
    const { status, run, waiting } = session.snapshot();
    expect(status).toBe("running");
    expect(run).toMatchObject({ runId, model: "scripted-2", turn: 1, movedHead: question, pendingToolCalls: [] });
    expect(run?.tools).toMatchObject([{ toolCallId: "w", toolName: "work", args: { a: 1 }, startedAt: clock.now() }]);
    expect(waiting).toMatchObject([
      { inputId: steered.inputId, runId, mode: "steer", message: { content: "also" } },
      { inputId: queued.inputId, runId: queued.runId, mode: "enqueue", parent: question },
    ]);
    done.resolve("done");
    await calm();
    expect(session.snapshot().waiting).toEqual([]);
  });

  it("shows an answer that is asked for again while it waits, without a message and with the one it continues", async () => {
    const { session } = world([{ text: "one" }, { text: "half", hang: true }, { text: "again" }]);
    await session.submit("first");
    await calm();
    const [question = ""] = session.messageIds;
    await session.submit("second");
    const { inputId, runId } = await session.submit({ regenerate: question });
    await calm();
    expect(session.snapshot().waiting).toEqual([{ inputId, runId, mode: "enqueue", parent: question }]);
    await session.abort();
    await calm();
    const { waiting, messages, head } = session.snapshot();
    expect(waiting).toEqual([]);
    expect(messages.find(({ id }) => id === head)).toMatchObject({ parent: question, runId, message: { content: [{ text: "again" }] } });
  });

  it("of a closed session shows that it is closed, and how its runs ended", async () => {
    const { session } = world([{ text: "half", hang: true }]);
    const { runId } = await session.submit("hi");
    await calm();
    await session.end();
    const { status, run, lastRun } = session.snapshot();
    expect({ status, run, lastRun }).toEqual({
      status: "closed",
      run: undefined,
      lastRun: { runId, status: "aborted", reason: "session closed" },
    });
  });

  it("names the participants, the title and the metadata of a restored session", async () => {
    const clock = manualClock();
    const { session, agent, store } = world([], {
      session: { clock, store: memoryStore({ clock }), title: "Paint", metadata: { a: 1 }, access: { user: "ada", scope: "local" } },
    });
    await session.open();
    clock.advance(5);
    await session.change({ title: "Paint it" });
    const restored = await createSession({ agent, store, clock, id: "s1" }).ready();
    const { title, metadata, participants, createdAt, updatedAt, agent: name } = restored.snapshot();
    expect({ title, metadata, participants, name }).toEqual({
      title: "Paint it",
      metadata: { a: 1 },
      participants: ["ada", "tester"],
      name: "tester",
    });
    expect(updatedAt - createdAt).toBe(5);
  });
});
