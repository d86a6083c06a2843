import { describe, expect, it } from "vitest";
import { AgentError, defineTool, execute } from "../src/index.ts";
import { memoryStore } from "../src/memory/index.ts";
import { manualClock } from "../src/memory/manual-clock.ts";
import type { AppendOutcome, SessionStore } from "../src/ports/index.ts";
import { calm, eventsOf, ofType, world } from "./harness.ts";

type Fault = (call: number, append: () => Promise<AppendOutcome>) => Promise<AppendOutcome>;

/** A memory store whose appends go through a fault. */
function faulty(fault: Fault): SessionStore {
  const store = memoryStore({ clock: manualClock() });
  let calls = 0;
  const { subscribe: _, ...log } = store.log;
  return { ...store, log: { ...log, append: (ref, request) => fault(++calls, () => store.log.append(ref, request)) } };
}

const act = defineTool({ name: "act", description: "Acts.", parameters: { type: "object" }, execute: () => "ok" });
const script = [{ calls: [{ name: "act" }] }, { text: "done" }];

async function settle<T>(promise: Promise<T>, clock: { advance(ms: number): void }): Promise<T> {
  for (let round = 0; round < 100; round++) {
    await calm();
    clock.advance(50);
  }
  return promise;
}

describe("an append whose answer is lost", () => {
  it.each([
    ["was written", true],
    ["was not written", false],
  ])("and that %s leaves each fact once", async (_, isWritten) => {
    const store = faulty(async (call, append) => {
      if (call % 2 === 0) return append();
      if (isWritten) await append();
      return { type: "unknown" };
    });
    const { session, clock, facts } = world(script, { tools: [act], session: { store } });
    const result = await settle(execute(session, "go").result(), clock);
    expect(result.text).toBe("done");
    const types = (await facts()).map(({ type }) => type);
    expect(types.filter((type) => type === "tool.started")).toHaveLength(1);
    expect(types.filter((type) => type === "model.finished")).toHaveLength(2);
  });

  it("for good is an error after a bounded number of tries, and nothing undurable was published", async () => {
    const { session, clock } = world(script, { session: { store: faulty(async () => ({ type: "unknown" })) } });
    const stream = execute(session, "go");
    await expect(settle(stream.result(), clock)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    const events: string[] = [];
    await expect(
      (async () => {
        for await (const event of stream) events.push(event.type);
      })(),
    ).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(events).toEqual(["session_start"]);
  });
});

describe("an append that others were faster than", () => {
  it("is decided again on what they wrote", async () => {
    const inner = memoryStore({ clock: manualClock() });
    let isFirst = true;
    const store: SessionStore = {
      ...inner,
      log: {
        ...inner.log,
        async append(ref, request) {
          if (isFirst && request.facts.some(({ type }) => type === "model.finished")) {
            isFirst = false;
            const body = { type: "session.changed", title: "from elsewhere", at: 0, v: 1 } as const;
            await inner.log.append(ref, { expectedSeq: request.expectedSeq, batchId: "foreign", facts: [body] });
          }
          return inner.log.append(ref, request);
        },
      },
    };
    const { session, facts } = world(script, { tools: [act], session: { store } });
    const events = await eventsOf(execute(session, "go"));
    expect(events.at(-1)).toMatchObject({ status: "completed" });
    expect(session.title).toBe("from elsewhere");
    const log = await facts();
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, i) => i + 1));
    expect(log.filter(({ type }) => type === "model.finished")).toHaveLength(2);
    expect(ofType(events, "message_end").length).toBe(4);
  });

  it("again and again is refused after ten times", async () => {
    const { session } = world([{ text: "x" }], { session: { store: faulty(async () => ({ type: "conflict", actualSeq: 0 })) } });
    await expect(execute(session, "go").result()).rejects.toMatchObject({ code: "STORE_CONFLICT" });
  });
});

describe("a store", () => {
  it("that is full gives STORE_FULL, loses nothing that was acknowledged, and works again when it has space", async () => {
    let isFull = false;
    const store = faulty(async (_, append) => (isFull ? { type: "full" } : append()));
    const { session, facts } = world([{ text: "one" }, { text: "two" }], { session: { store } });
    await execute(session, "1").result();
    isFull = true;
    const before = (await facts()).length;
    await expect(execute(session, "2").result()).rejects.toMatchObject({ code: "STORE_FULL" });
    expect(await facts()).toHaveLength(before);
    isFull = false;
    expect((await execute(session, "2").result()).text).toBe("two");
    expect(session.messages).toHaveLength(4);
  });

  it("that fails for most of a lease during a run stops the run as a crash would, and another execution continues it", async () => {
    let isDown = false;
    let wasDown = false;
    const down = () => Promise.reject(new AgentError("STORE_UNAVAILABLE", { message: "Down." }));
    const store = faulty(async (_, append) => (isDown ? down() : append()));
    const breaks = defineTool({
      name: "act",
      description: "Acts.",
      parameters: { type: "object" },
      replay: "pure",
      execute: () => {
        isDown = !wasDown;
        wasDown = true;
        return "ok";
      },
    });
    const { session, clock } = world([{ calls: [{ name: "act" }] }, { text: "done" }, { text: "next" }], {
      tools: [breaks],
      session: { store },
    });
    const lost = execute(session, "go").result();
    for (let second = 0; second < 19; second++) {
      await calm();
      clock.advance(1_000);
    }
    await expect(lost).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    isDown = false;
    expect((await execute(session, "still there?").result()).status).toBe("completed");
  });

  it("whose log has a gap or facts of a newer version is read-only, with a clear status", async () => {
    const holed = memoryStore();
    const gap: SessionStore = {
      ...holed,
      log: { ...holed.log, read: async () => [{ type: "session.opened", agent: "a", at: 0, v: 1, seq: 2 }] },
    };
    await expect(execute(world([], { session: { store: gap } }).session, "x").result()).rejects.toMatchObject({ code: "SESSION_CORRUPT" });
    const newer: SessionStore = {
      ...holed,
      log: { ...holed.log, read: async () => [{ type: "agent.dreamt", at: 0, v: 9, seq: 1 } as never] },
    };
    await expect(execute(world([], { session: { store: newer } }).session, "x").result()).rejects.toMatchObject({
      code: "SESSION_TOO_NEW",
    });
  });
});

describe("a large payload", () => {
  it("goes to the blob store and comes back as it was", async () => {
    const big = "x".repeat(400_000);
    const { session, again, store, facts, provider } = world([{ calls: [{ name: "act", args: { big } }] }, { text: big }, { text: "ok" }], {
      tools: [act],
    });
    await execute(session, `say ${big}`).result();
    expect(Math.max(...(await facts()).map((fact) => JSON.stringify(fact).length))).toBeLessThan(256 * 1024);
    expect((await store.blobs.list("local")).length).toBeGreaterThan(1);
    const later = again();
    await later.ready();
    expect(later.messages).toEqual(session.messages);
    await execute(later, "and?").result();
    expect(JSON.stringify(provider.requests[2]?.messages)).toContain(big);
  });

  it("of a hostile sender cannot pass for a reference", async () => {
    const { session, again } = world([{ text: "ok" }]);
    const text = JSON.stringify({ blobs: [{ path: ["message"], key: "sha256-00" }] });
    await execute(session, text).result();
    const later = again();
    await later.ready();
    expect(later.messages[0]).toEqual({ role: "user", content: text });
  });
});

describe("a closed session", () => {
  it("refuses every input with the reason", async () => {
    const { session, again } = world([{ text: "one" }]);
    await execute(session, "1").result();
    await session.end();
    await expect(execute(session, "2").result()).rejects.toMatchObject({ code: "SESSION_CLOSED" });
    await expect(execute(again(), "2").result()).rejects.toMatchObject({ code: "SESSION_CLOSED" });
  });
});
