import { assertEventStream } from "@loopwright/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { type DurableEvent, execute, type Fact, type FactBody, type SessionStore } from "../src/index.ts";
import { eventsOf as publishedBy } from "../src/loop/events-of.ts";
import { fold, foldAll } from "../src/loop/fold.ts";
import { plan } from "../src/loop/plan.ts";
import { emptyState, isAtRest, type State, sessionStatusOf, waitingReasons } from "../src/loop/state.ts";
import { transcriptOf } from "../src/loop/transcript.ts";
import { memoryStore } from "../src/memory/index.ts";
import { manualClock } from "../src/memory/manual-clock.ts";
import { projectSession } from "../src/stores/session-projection.ts";
import { calm, world } from "./harness.ts";
import { numbered, writtenLogs } from "./written-logs.ts";

const ref = { scope: "local", session: "s1" };
const children = numbered(writtenLogs["children"] ?? []);
const schedules = numbered(writtenLogs["schedules"] ?? []);
const after = (facts: readonly Fact[], seq: number): State => foldAll(emptyState, facts.slice(0, seq));

function eventsIn(facts: readonly Fact[]): readonly DurableEvent[] {
  let state = emptyState;
  return facts.flatMap((fact) => {
    const runId = "runId" in fact && fact.runId !== undefined ? { runId: fact.runId } : {};
    const published = publishedBy(state, fact).map((body, k) => ({ ...body, seq: fact.seq, k, at: fact.at, sessionId: "s1", ...runId }));
    state = fold(state, fact);
    return published;
  });
}

async function stored(facts: readonly Fact[]): Promise<{ readonly store: SessionStore; readonly clock: ReturnType<typeof manualClock> }> {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const drafts = facts.map(({ seq: _, epoch: __, ...draft }) => draft);
  await store.log.append(ref, { expectedSeq: 0, batchId: "written", facts: drafts });
  return { store, clock };
}

describe("the events of the written logs", () => {
  it.each(Object.keys(writtenLogs))("stand in the order of the drawing: %s", (name) => {
    assertEventStream(eventsIn(numbered(writtenLogs[name] ?? [])), { mayLoseDeltas: true });
  });

  it("show what hooks changed and spent before the result of it", () => {
    const [verdict, expense, input] = eventsIn(children).filter(({ seq }) => seq === 3);
    expect([verdict, expense, input]).toMatchObject([
      { type: "verdict", hook: "pii", point: "accept", action: "edit", reason: "an address" },
      { type: "expense", model: "small" },
      { type: "input_accepted" },
    ]);
  });
});

describe("a call that waits for a child", () => {
  it("needs no process and no owner, however its turn began", () => {
    const waiting = after(children, 12);
    expect(waiting.run?.calls.map(({ state }) => state)).toEqual(["awaiting_child", "done"]);
    expect(isAtRest(waiting)).toBe(true);
    expect(plan(waiting)).toEqual({ facts: [], effects: [] });
    expect([sessionStatusOf(waiting), waitingReasons(waiting)]).toEqual(["waiting", ["children"]]);
    const summary = projectSession("s1", undefined, children.slice(0, 12))?.summary;
    expect(summary).toMatchObject({ status: "waiting", waitsFor: ["children"] });
  });

  it("is not in doubt after its owner has died", () => {
    const claimed = fold(after(children, 12), { type: "owner.claimed", node: "n2", leaseMs: 1, seq: 13, at: 0, v: 2, epoch: 2 });
    expect(claimed.run?.calls[0]).toMatchObject({ state: "awaiting_child", inDoubt: false });
    expect(plan(claimed)).toEqual({ facts: [], effects: [] });
  });

  it("gets its result from the fact that ends the child, once, whichever node appends it", () => {
    const ended = after(children, 13);
    expect(ended.run?.calls.map(({ state }) => state)).toEqual(["done", "done"]);
    expect(transcriptOf(ended).messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool_result", "tool_result"]);
    const again = children[12] as Fact;
    expect(publishedBy(ended, { ...again, seq: 14 })).toEqual([]);
    expect(plan(ended).effects).toMatchObject([{ type: "call-model", turn: 2 }]);
  });

  it("ends as aborted when its run is stopped, and a child that ends later changes nothing", () => {
    const stopped = fold(after(children, 12), { type: "abort.requested", runId: "r1", reason: "user", seq: 13, at: 0, v: 2 });
    expect(plan(stopped).facts).toMatchObject([{ type: "tool.finished", callKey: "r1.1.0", outcome: "aborted" }]);
    const [closing] = plan(stopped).facts as [FactBody];
    const closed = fold(stopped, { ...closing, seq: 14, at: 0, v: 2, epoch: 1 });
    expect(publishedBy(closed, { ...(children[12] as Fact), seq: 15 })).toEqual([]);
    // The child of a hook has no end yet: it is stopped first.
    expect(plan(closed)).toMatchObject({ facts: [], effects: [{ type: "stop-child", child: { session: "child-c" } }] });
    const critic = { type: "child.finished", runId: "r1", session: "child-c", outcome: "aborted", output: [] } as const;
    const over = fold(closed, { ...critic, seq: 15, at: 0, v: 2, epoch: 1 });
    expect(plan(over).facts).toMatchObject([{ type: "run.finished", status: "aborted" }]);
  });

  it("lets another node end the child while this one follows, and its run continues", async () => {
    const { store, clock } = await stored(children.slice(0, 12));
    const made = world([{ text: "Both were read." }], { session: { store, clock } });
    await made.session.ready();
    expect([made.session.status, made.session.dueAt]).toEqual(["awaiting_tool_execution", null]);
    expect(made.session.snapshot().run?.pendingChildren).toEqual([{ callKey: "r1.1.0", session: "child-a", agent: "researcher" }]);
    onTestFinished(made.session.follow({ events: () => {} }));
    const { seq: _, epoch: __, ...end } = children[12] as Fact;
    await store.log.append(ref, { expectedSeq: 12, batchId: "child-a.end", facts: [end], due: 0 });
    await calm();
    clock.advance(1_000);
    await calm();
    const answer = { role: "assistant", content: [{ text: "Both were read." }] };
    await expect.poll(() => made.session.messages.at(-1)).toMatchObject(answer);
    expect((await made.facts()).filter(({ type }) => type === "tool.finished")).toHaveLength(1);
  });

  it("adds what the child spent to its run, and shows later runs the summary alone", async () => {
    // A session at the top: a child takes no further input.
    const alone = children.slice(0, 13).map((fact): Fact => {
      const { parent: _, ...opened } = fact.type === "session.opened" ? fact : { ...fact, parent: undefined };
      return opened as Fact;
    });
    const { store, clock } = await stored(alone);
    expect(after(children, 13).run?.usage).toEqual({ input: 312, output: 64 });
    const made = world([{ text: "One." }, { text: "Two." }], { session: { store, clock } });
    const first = made.session.follow({ events: () => {} });
    onTestFinished(first);
    await calm();
    await execute(made.session, "And now?").result();
    const resultsOf = (request: number): readonly unknown[] =>
      (made.provider.requests[request]?.messages ?? []).flatMap((message) => (message.role === "tool_result" ? [message.content] : []));
    expect(resultsOf(0)[0]).toEqual([{ type: "text", text: "A long report." }]);
    expect(resultsOf(1)[0]).toBe("A found it.");
  });
});

describe("a child that a tool or a hook begins under a key", () => {
  it("leaves its call running, and is found again by its key", () => {
    const running = after(children, 10);
    expect(running.run?.calls[1]?.state).toBe("running");
    expect(running.run?.children).toEqual([
      { key: "first", callKey: "r1.1.1", session: "child-b", agent: "researcher" },
      { key: "review", session: "child-c", agent: "critic" },
    ]);
    const twice: Fact = { ...(children[8] as Fact), seq: 11, session: "child-x" } as Fact;
    expect(fold(running, twice).run?.children).toEqual(running.run?.children);
  });
});

describe("the id of an answer", () => {
  it("is the number of the first `model.started` of its turn, over all attempts, and known from the first delta", () => {
    const published = eventsIn(children);
    const starts = published.filter((event) => event.type === "message_start" && event.role === "assistant");
    expect(starts.map((event) => ("messageId" in event ? event.messageId : undefined))).toEqual(["5", "14", "14"]);
    expect(transcriptOf(foldAll(emptyState, children)).ids).toEqual(["3", "5", "13", "12", "14"]);
  });

  it("is the same in the stream of an execution that tries again", async () => {
    const made = world([{ error: "MODEL_OVERLOADED" }, { text: "Whole." }]);
    const events: DurableEvent[] = [];
    made.session.subscribe((some) => void events.push(...some.filter((event): event is DurableEvent => "k" in event)));
    const result = execute(made.session, "Hi").result();
    for (let round = 0; round < 20; round++) {
      await calm();
      made.clock.advance(5_000);
    }
    expect((await result).text).toBe("Whole.");
    const ids = events.flatMap((event) => (event.type === "message_start" && event.role === "assistant" ? [event.messageId] : []));
    expect(ids).toHaveLength(2);
    expect(new Set([...ids, made.session.messageIds.at(-1)]).size).toBe(1);
  });

  it("is the number of its fact where no model was called", () => {
    const published = eventsIn(schedules).filter(({ seq }) => seq === 8);
    expect(published).toMatchObject([
      { type: "turn_start" },
      { type: "message_start", messageId: "8", role: "assistant" },
      { type: "message_end", messageId: "8" },
      { type: "turn_end" },
    ]);
  });
});

describe("an answer that a hook gave before the run", () => {
  it("follows from the log, and no model is called", () => {
    const begun = after(schedules, 7);
    const [answer] = plan(begun).facts;
    expect(plan(begun).effects).toEqual([]);
    expect(answer).toEqual({ ...schedules[7], seq: undefined, at: undefined, v: undefined, epoch: undefined });
    const ended = plan(after(schedules, 8));
    expect(ended.facts).toMatchObject([{ type: "run.finished", status: "completed", reason: "answer" }]);
  });
});

describe("a schedule", () => {
  it("moves to its next date with the input that it brings, and each date counts once", () => {
    const [before, fired, repeated] = [after(schedules, 4), after(schedules, 5), after(schedules, 6)];
    expect(before.schedules?.map(({ id, due }) => [id, due - (schedules[0] as Fact).at])).toEqual([
      ["daily", 50],
      ["once", 60],
    ]);
    expect(fired.schedules?.find(({ id }) => id === "daily")?.due).toBe((schedules[0] as Fact).at + 1_050);
    expect(repeated.inputs).toEqual(fired.inputs);
    expect(foldAll(emptyState, schedules).schedules?.map(({ id }) => id)).toEqual(["daily"]);
  });

  it("brings its input at its date, once, though two nodes hold the session, and the next one when that is answered", async () => {
    const clock = manualClock();
    const store = memoryStore({ clock });
    const made = world([{ text: "First report." }, { text: "Second report." }], { session: { store, clock } });
    await made.session.open();
    const set = { type: "schedule.set", schedule: "daily", due: clock.now() + 60_000, everyMs: 60_000, at: 0, v: 2 } as const;
    const input = { message: { role: "user", content: "Report." }, labels: { surface: "timer" } } as const;
    await store.log.append(ref, { expectedSeq: 1, batchId: "set", facts: [{ ...set, input }], due: set.due });
    for (const session of [made.again(), made.again()]) onTestFinished(session.follow({ events: () => {} }));
    await calm();
    expect(await made.types()).toEqual(["session.opened", "schedule.set"]);
    const dates: number[] = [];
    for (let minute = 1; minute <= 2; minute++) {
      for (let second = 0; second < 60; second++) {
        clock.advance(1_000);
        await calm();
      }
      dates.push(set.due + (minute - 1) * 60_000);
      const accepted = (await made.facts()).flatMap((fact) => (fact.type === "input.accepted" ? [fact] : []));
      expect(accepted.map(({ idempotencyKey }) => idempotencyKey)).toEqual(dates.map((due) => `daily.${due}`));
      expect(accepted.at(-1)).toMatchObject({ labels: { surface: "timer" }, origin: { type: "schedule", schedule: "daily" } });
      expect((await made.types()).filter((type) => type === "run.finished")).toHaveLength(minute);
    }
  });

  it("gives the date on which its session needs an owner", async () => {
    const { store, clock } = await stored(schedules.slice(0, 3));
    const made = world([], { session: { store, clock } });
    await made.session.ready();
    expect(made.session.dueAt).toBe((schedules[0] as Fact).at + 50);
  });

  it("fires once for all dates that were missed", () => {
    const late = { ...(schedules[4] as Fact), at: (schedules[0] as Fact).at + 5_300 } as Fact;
    expect(fold(after(schedules, 4), late).schedules?.find(({ id }) => id === "daily")?.due).toBe((schedules[0] as Fact).at + 6_050);
  });
});

describe("a session under a legal hold", () => {
  it("shows the hold until it is lifted, and takes inputs as before", () => {
    const held = after(schedules, 11);
    expect(held.hold).toMatchObject({ reason: "a case", by: "legal" });
    const lifted = fold(held, { type: "hold.changed", held: false, seq: 12, at: 0, v: 2 });
    expect(lifted.hold).toBeUndefined();
  });
});

describe("a note", () => {
  it("changes no state and publishes nothing", () => {
    const last = children.at(-1) as Fact;
    const before = after(children, last.seq - 1);
    const { seq: _, updatedAt: __, ...rest } = fold(before, last);
    const { seq: ___, updatedAt: ____, ...same } = before;
    expect(rest).toEqual(same);
    expect(publishedBy(before, last)).toEqual([]);
  });
});
