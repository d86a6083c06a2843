import { describe, expect, it } from "vitest";
import { type AgentSession, defineTool, execute, type Hooks, resume, type ToolResultMessage } from "../src/index.ts";
import type { ScriptedTurn } from "../src/memory/index.ts";
import type { ModelRequest } from "../src/ports/index.ts";
import { type Death, type DyingStore, dyingStore } from "./dying-store.ts";
import { calm, deferred, type World, world } from "./harness.ts";

/*
 * Rows 18 to 24 of the recovery table: a process dies while a run waits for a decision from outside, or is being stopped. The model answers by
 * what it is shown, so that every process has the same course; tools write each start down, as a witness would.
 */
const object = { type: "object" } as const;
const day = 86_400_000;
const leaseMs = 20_000;

interface Scene extends World {
  readonly starts: readonly string[];
  readonly gated: readonly string[];
  /** A process of its own over the same log, and the store that it dies with. */
  boot(death?: Death): { readonly session: AgentSession; readonly store: DyingStore };
  count(type: string): Promise<number>;
}

/** A session whose first answer makes these calls, and whose last one states what came of them. */
function scene(calls: readonly string[], timeoutMs?: number): Scene {
  const starts: string[] = [];
  const gated: string[] = [];
  const acts = (name: string) =>
    defineTool({
      name,
      description: `Is ${name}.`,
      parameters: object,
      execute(_, { callKey }) {
        starts.push(`${name} ${callKey}`);
        return `${name} done`;
      },
    });
  const timeout = timeoutMs === undefined ? {} : { timeoutMs };
  const pick = defineTool({ name: "pick", description: "Asks the client.", parameters: object, ...timeout });
  const gate: Hooks["gate"] = ({ call }) => {
    gated.push(call.callKey);
    return call.name === "danger" ? { action: "ask", ...timeout } : undefined;
  };
  const answer = ({ messages }: ModelRequest): ScriptedTurn => {
    const isAnswered = messages.some(({ role }) => role === "tool_result");
    return isAnswered ? { text: "done" } : { text: "Let me see.", calls: calls.map((name, i) => ({ name, id: `${name}${i}` })) };
  };
  const made = world(answer as never, { tools: [acts("danger"), acts("plain"), pick], hooks: [{ name: "gate", gate }] });
  const boot: Scene["boot"] = (death) => {
    const store = dyingStore(made.store, death);
    return { store, session: made.again({ store }) };
  };
  const count = async (type: string): Promise<number> => (await made.types()).filter((one) => one === type).length;
  return { ...made, starts, gated, boot, count };
}

const result = (toolCallId: string, content = "blue"): ToolResultMessage => ({ role: "tool_result", toolCallId, content });
const keyOf = (session: AgentSession): string => session.pendingApprovals[0]?.callKey ?? "";

/** The text that the run ends with, whichever process continues it, however often its lease has to run out. */
async function ending({ clock }: World, session: AgentSession): Promise<string> {
  const outcome = resume(session).result();
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  outcome.then(over, over);
  for (let round = 0; round < 200 && !isOver; round++) {
    await calm();
    if (!isOver) clock.advance(250);
  }
  return (await outcome).text;
}

/** Runs until it waits, in a process that may die on the way. Others wait for its lease to run out. */
async function begin(made: Scene, death?: Death): Promise<DyingStore> {
  const { session, store } = made.boot(death);
  const outcome = execute(session, "go").result();
  while (!store.isDead && !(await isOver(outcome))) await calm();
  if (store.isDead) made.clock.advance(leaseMs + 1);
  return store;
}

async function isOver(outcome: Promise<unknown>): Promise<boolean> {
  const open = Symbol("open");
  return (await Promise.race([outcome, calm().then(() => open)])) !== open;
}

/** How many appends it takes until the run waits. */
async function appendsUntilWait(calls: readonly string[]): Promise<number> {
  return (await begin(scene(calls))).appends;
}

describe("the recovery table", () => {
  it.each([
    ["client call", "pick", "client.requested"],
    ["approval", "danger", "approval.requested"],
  ])("row 18: a %s that may not have been announced is asked for once, wherever the process died", async (_, name, type) => {
    const length = await appendsUntilWait([name]);
    for (let at = 1; at <= length; at++) {
      for (const when of ["before", "after"] as const) {
        const made = scene([name]);
        await begin(made, { at, when });
        const next = made.boot().session;
        await next.ready();
        if (next.lastSeq === 0) continue; // Died before anything was durable: no subscriber was notified of anything.
        await ending(made, next);
        const where = `append ${at}, ${when}`;
        expect(await made.count(type), where).toBe(1);
        expect(next.isResting, where).toBe(true);
        expect(next.pendingToolCalls.length + next.pendingApprovals.length, where).toBe(1);
        expect(made.starts, where).toEqual([]);
      }
    }
  });

  it("row 19: what waits is shown to a reader that comes days later, and only an answer or a decision continues it", async () => {
    const made = scene(["pick", "danger"]);
    const store = await begin(made);
    store.kill();
    made.clock.advance(30 * day);
    expect(await made.store.log.due({ now: made.clock.now() })).toEqual([]);
    const { session } = made.boot();
    await session.ready();
    expect([session.status, session.pendingToolCalls.length, session.pendingApprovals.length]).toEqual(["awaiting_tool_execution", 1, 1]);
    await session.decide(keyOf(session), { decision: "allow" });
    await execute(session, [result("pick0")]).result();
    expect(await ending(made, session)).toBe("done");
    expect(made.starts).toHaveLength(1);
  });

  it.each(["pick", "danger"])(
    "row 19: the deadline of %s is a date in the log, which a sweep finds when no process ran meanwhile",
    async (name) => {
      const made = scene([name], 60_000);
      const store = await begin(made);
      store.kill();
      const now = made.clock.now();
      expect(await made.store.log.due({ now: now + 59_999 })).toEqual([]);
      made.clock.advance(7 * day);
      expect(await made.store.log.due({ now: made.clock.now() })).toMatchObject([{ due: now + 60_000 }]);
      const { session } = made.boot();
      session.follow({ events: () => {} });
      await calm();
      made.clock.advance(1);
      await calm();
      expect(session.messages.findLast(({ role }) => role === "tool_result")).toMatchObject({ outcome: "expired" });
      expect(session.messages.at(-1)).toMatchObject({ content: [{ type: "text", text: "done" }] });
      expect(made.starts).toEqual([]);
    },
  );

  it.each(["before", "after"] as const)("row 20: a result whose append was cut off %s the log had it is accepted once", async (when) => {
    const made = scene(["pick"]);
    (await begin(made)).kill();
    const cut = made.boot({ at: 1, when });
    cut.session.submit([result("pick0")]).catch(() => {});
    while (!cut.store.isDead) await calm();
    made.clock.advance(leaseMs + 1);
    const { session } = made.boot();
    expect(await session.submit([result("pick0")])).toMatchObject({ replayed: when === "after" });
    expect(await ending(made, session)).toBe("done");
    expect(await made.count("client.answered")).toBe(1);
  });

  it.each(["before", "after"] as const)("row 20: a decision whose append was cut off %s the log had it is accepted once", async (when) => {
    const made = scene(["danger"]);
    (await begin(made)).kill();
    const cut = made.boot({ at: 1, when });
    await cut.session.ready();
    const callKey = keyOf(cut.session);
    cut.session.decide(callKey, { decision: "allow", idempotencyKey: "k" }).catch(() => {});
    while (!cut.store.isDead) await calm();
    made.clock.advance(leaseMs + 1);
    const { session } = made.boot();
    expect(await session.decide(callKey, { decision: "allow", idempotencyKey: "k" })).toMatchObject({ replayed: when === "after" });
    expect(await ending(made, session)).toBe("done");
    expect([await made.count("approval.decided"), await made.count("tool.started")]).toEqual([1, 1]);
  });

  it("row 21: an allowed call runs once, and its gate is asked once, wherever the process dies after the decision", async () => {
    let died = 0;
    for (let at = 1; at <= 4; at++) {
      for (const when of ["before", "after"] as const) {
        const made = scene(["danger", "plain"]);
        (await begin(made)).kill();
        const { session, store } = made.boot({ at, when });
        await session.ready();
        const callKey = keyOf(session);
        session.decide(callKey, { decision: "allow", idempotencyKey: "k" }).catch(() => {});
        for (let round = 0; round < 20; round++) await calm();
        if (store.isDead) died++;
        store.kill();
        made.clock.advance(leaseMs + 1);
        const next = made.boot().session;
        await next.decide(callKey, { decision: "allow", idempotencyKey: "k" });
        expect(await ending(made, next)).toBe("done");
        const where = `append ${at}, ${when}`;
        expect(made.starts.filter((start) => start === `danger ${callKey}`).length, where).toBeLessThanOrEqual(1);
        expect([await made.count("tool.started"), await made.count("approval.decided")], where).toEqual([2, 1]);
        expect(
          made.gated.filter((key) => key === callKey),
          where,
        ).toHaveLength(1);
        const [outcome] = next.messages.flatMap((message) =>
          message.role === "tool_result" && message.callKey === callKey ? [message.outcome] : [],
        );
        // Between its start and its end the outcome cannot be known.
        expect(["ok", "interrupted"], where).toContain(outcome);
        if (outcome === "ok") expect(made.starts, where).toContain(`danger ${callKey}`);
      }
    }
    expect(died).toBeGreaterThan(2);
  });

  it("row 21: a decision that a handle recorded which never owned the session is acted on by the next owner", async () => {
    const made = scene(["danger"]);
    (await begin(made)).kill();
    const publisher = made.again({ drives: false });
    await publisher.ready();
    await publisher.decide(keyOf(publisher), { decision: "allow" });
    await calm();
    expect([made.starts, await made.store.log.due({ now: made.clock.now() })]).toMatchObject([[], [{ due: 0 }]]);
    const { session } = made.boot();
    expect(await ending(made, session)).toBe("done");
    expect([made.starts.length, made.gated.length, session.pendingApprovals.length]).toEqual([1, 1, 0]);
  });

  it("row 22: of two people that decide the second gets the first decision, on whichever node", async () => {
    const made = scene(["danger"]);
    await begin(made);
    const [first, second] = [made.again({ drives: false }), made.boot().session];
    await first.ready();
    await second.ready();
    const callKey = keyOf(first);
    await first.decide(callKey, { decision: "deny", note: "no", access: { user: "ada", scope: "local" } });
    const refused = second.decide(callKey, { decision: "allow", access: { user: "bob", scope: "local" } });
    await expect(refused).rejects.toMatchObject({ code: "APPROVAL_DECIDED", details: { decision: "deny", by: "ada", note: "no" } });
    expect(await ending(made, second)).toBe("done");
    expect([made.starts, await made.count("approval.decided")]).toEqual([[], 1]);
  });

  it.each(["pick", "danger"])(
    "row 23: an abort of a run that waits for %s is carried out by the next owner, without a model call",
    async (name) => {
      const made = scene([name]);
      (await begin(made)).kill();
      const cut = made.boot({ at: 1, when: "after" });
      cut.session.abort().catch(() => {});
      while (!cut.store.isDead) await calm();
      made.clock.advance(leaseMs + 1);
      const { session } = made.boot();
      const aborted = await resume(session).result();
      expect(aborted.status).toBe("aborted");
      expect(session.messages.at(-1)).toMatchObject({ role: "tool_result", outcome: "aborted" });
      expect([made.starts, made.provider.requests.length, await made.count("run.finished")]).toEqual([[], 1, 1]);
    },
  );

  it("row 23: an abort whose owner dies before it has stopped anything leaves the open call interrupted", async () => {
    const hangs = deferred<string>();
    const slow = defineTool({ name: "slow", description: "Is slow.", parameters: object, execute: () => hangs.promise });
    const made = world([{ calls: [{ name: "slow" }] }] as never, { tools: [slow] });
    const store = dyingStore(made.store);
    execute(made.again({ store }), "go");
    await calm();
    store.kill();
    expect(await made.again({ drives: false }).abort()).toBe(true);
    made.clock.advance(leaseMs + 1);
    const session = made.again();
    expect((await resume(session).result()).status).toBe("aborted");
    expect(session.messages.at(-1)).toMatchObject({ outcome: "interrupted" });
    expect(made.provider.requests).toHaveLength(1);
  });

  it("row 24: an abort that is in the log before the answer wins over all that follows it: the text is kept, no call is started or asked about", async () => {
    const made = scene(["danger", "plain", "pick"]);
    const publisher = made.again({ drives: false });
    const { log } = made.store;
    const append: typeof log.append = async (ref, request) => {
      if (request.facts.some(({ type }) => type === "model.finished")) await publisher.abort();
      return log.append(ref, request);
    };
    const session = made.again({ store: { ...made.store, log: { ...log, append } } });
    expect((await execute(session, "go").result()).status).toBe("aborted");
    const types = await made.types();
    expect(types.indexOf("abort.requested")).toBe(types.indexOf("model.finished") - 1);
    expect([made.starts, await made.count("approval.requested"), await made.count("client.requested")]).toEqual([[], 0, 0]);
    expect(session.messages[1]).toMatchObject({ content: [{ type: "text", text: "Let me see." }, {}, {}, {}] });
    const outcomes = session.messages.slice(2).map((message) => message.role === "tool_result" && message.outcome);
    expect([outcomes, await made.count("run.finished")]).toEqual([["aborted", "aborted", "aborted"], 1]);
  });
});
