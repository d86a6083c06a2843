import { describe, expect, it } from "vitest";
import { createAgent, createSession, defineTool, execute, type Fact, resume, type Tool } from "../src/index.ts";
import { memoryStore, type ScriptedTurn, scripted } from "../src/memory/index.ts";
import { type ManualClock, manualClock } from "../src/memory/manual-clock.ts";
import { seededIds } from "../src/memory/seeded-ids.ts";
import type { ModelRequest, SessionStore } from "../src/ports/index.ts";
import { type Death, type DyingStore, dyingStore } from "./dying-store.ts";
import { calm } from "./harness.ts";

const object = { type: "object" } as const;

/** Answers by what it is shown, so that a second process gives the same conversation as the first. */
function answer(request: ModelRequest): ScriptedTurn {
  const results = request.messages.filter((message) => message.role === "tool_result");
  if (results.length === 0) return { text: "let me", calls: [{ name: "once" }, { name: "again" }, { name: "pure" }] };
  if (results.length === 3) return { text: "and", calls: [{ name: "once" }] };
  return { text: "done" };
}

interface Process {
  readonly store: DyingStore;
  readonly session: ReturnType<typeof createSession>;
}

/** One store, and processes that die over it. Tools write each start into `starts`, as a witness would. */
function machine(tools?: readonly Tool[]) {
  const clock = manualClock();
  const real: SessionStore = memoryStore({ clock });
  const starts: string[] = [];
  const tool = (name: string, replay: "once" | "idempotent" | "pure"): Tool =>
    defineTool({
      name,
      description: `Is ${name}.`,
      parameters: object,
      replay,
      execute: (_, { callKey, attempt }) => {
        starts.push(`${name} ${callKey} ${attempt}`);
        return `${name} ok`;
      },
    });
  const provider = scripted(answer as never);
  const agent = createAgent({
    name: "a",
    provider,
    tools: tools ?? [tool("once", "once"), tool("again", "idempotent"), tool("pure", "pure")],
  });
  let count = 0;
  const boot = (death?: Death, ownClock: ManualClock = clock): Process => {
    const store = dyingStore(real, death);
    return { store, session: createSession({ agent, id: "s", store, clock: ownClock, ids: seededIds(++count), node: `n${count}` }) };
  };
  const facts = (): Promise<readonly Fact[]> => real.log.read({ scope: "local", session: "s" });
  return { clock, boot, facts, starts, provider };
}

/** Lets timers of retries and polls fire until the promise is settled. */
async function finish<T>(promise: Promise<T>, clock: ManualClock): Promise<T> {
  let isSettled = false;
  promise.then(
    () => {
      isSettled = true;
    },
    () => {
      isSettled = true;
    },
  );
  for (let round = 0; round < 200 && !isSettled; round++) {
    await calm();
    if (!isSettled) clock.advance(250);
  }
  if (!isSettled) throw new Error("never settled");
  return promise;
}

const leaseMs = 20_000;
const countOf = (facts: readonly Fact[], type: Fact["type"]): number => facts.filter((fact) => fact.type === type).length;

/** How many appends the whole conversation takes when no process dies. */
async function lengthOfLife(): Promise<number> {
  const { boot } = machine();
  const { session, store } = boot();
  await execute(session, "go").result();
  return store.appends;
}

describe("a process that dies at any append", () => {
  it("leaves a session that the next owner brings to its end, without a loss or a double", async () => {
    const length = await lengthOfLife();
    expect(length).toBeGreaterThan(4);
    for (let at = 1; at <= length; at++) {
      for (const when of ["before", "after"] as const) {
        const { boot, clock, facts, starts } = machine();
        const first = boot({ at, when });
        execute(first.session, "go", { idempotencyKey: "k" });
        await calm();
        expect(first.store.isDead).toBe(true);
        clock.advance(leaseMs + 1);
        const second = boot();
        const result = await finish(execute(second.session, "go", { idempotencyKey: "k" }).result(), clock);
        const log = await facts();
        const where = `append ${at}, ${when}`;
        expect(result.text, where).toBe("done");
        expect(countOf(log, "input.accepted"), where).toBe(1);
        for (const key of new Set(starts.filter((start) => start.startsWith("once"))))
          expect(
            starts.filter((start) => start === key),
            where,
          ).toHaveLength(1);
        const onceKeys = starts.filter((start) => start.startsWith("once")).map((start) => start.split(" ")[1]);
        expect(new Set(onceKeys).size, where).toBe(onceKeys.length);
        expect(
          log.map(({ seq }) => seq),
          where,
        ).toEqual(log.map((_, i) => i + 1));
      }
    }
  });

  it("and again during the recovery, is survived as well", async () => {
    const length = await lengthOfLife();
    for (let at = 1; at <= length; at++) {
      for (let then = 1; then <= 3; then++) {
        const { boot, clock, starts } = machine();
        execute(boot({ at, when: "after" }).session, "go");
        await calm();
        clock.advance(leaseMs + 1);
        const second = boot({ at: then, when: "after" });
        resume(second.session);
        await calm();
        for (let i = 0; i < 20; i++) {
          clock.advance(1_000);
          await calm();
        }
        clock.advance(leaseMs + 1);
        const third = boot();
        await finish(resume(third.session).result(), clock);
        expect(third.session.status, `append ${at}, then ${then}`).toBe("completed");
        const onceKeys = starts.filter((start) => start.startsWith("once")).map((start) => start.split(" ")[1]);
        expect(new Set(onceKeys).size).toBe(onceKeys.length);
      }
    }
  });
});

/* The rows of docs/recovery.md one by one: rows-*.test.ts. */
describe("a session that is recovered", () => {
  it("C04: has no doubled input: the same text sent again after a crash is the interrupted input, unless it was answered", async () => {
    const { boot, clock, facts, provider } = machine();
    execute(boot({ at: 2, when: "before" }).session, "go");
    await calm();
    clock.advance(leaseMs + 1);
    const { session } = boot();
    await session.ready();
    expect(session.isInterrupted).toBe(true);
    const asked = provider.requests.length;
    await finish(execute(session, "go").result(), clock);
    expect(countOf(await facts(), "input.accepted")).toBe(1);
    const written = (request: ModelRequest | undefined): number => request?.messages.filter(({ role }) => role === "user").length ?? 0;
    expect(written(provider.requests[asked])).toBe(1);
    await finish(execute(session, "go").result(), clock);
    expect(countOf(await facts(), "input.accepted")).toBe(2);
    expect(written(provider.requests.at(-1))).toBe(2);
  });
});
