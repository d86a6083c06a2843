import { describe, expect, it } from "vitest";
import type { SessionEvent } from "../src/index.ts";
import { createSession, defineTool, execute, resume } from "../src/index.ts";
import { memoryStore } from "../src/memory/index.ts";
import { manualClock } from "../src/memory/manual-clock.ts";
import type { SessionStore } from "../src/ports/index.ts";
import { calm, deferred, eventsOf, howStands, ofType, world } from "./harness.ts";

const parameters = { type: "object" } as const;
const ref = { scope: "local", session: "s1" };

describe("two handles on one session in one process", () => {
  it("do not take the session from one another", async () => {
    const done = deferred<string>();
    const tool = defineTool({ name: "work", description: "Works", parameters, execute: () => done.promise });
    const { agent, store, clock } = world([{ calls: [{ name: "work" }] }, { text: "one" }, { text: "two" }], { tools: [tool] });
    const first = createSession({ agent, id: "s1", store, clock });
    const second = createSession({ agent, id: "s1", store, clock });
    const one = execute(first, "hi");
    await calm();
    const two = execute(second, "and this");
    await calm();
    done.resolve("done");
    expect((await one.result()).text).toBe("one");
    expect((await two.result()).text).toBe("two");
    const facts = await store.log.read(ref);
    expect(facts.find((fact) => fact.type === "tool.finished")).toMatchObject({ outcome: "ok" });
  });

  it("report to a follower how each run ended, also when it reads of two at once", async () => {
    const clock = manualClock();
    const inner = memoryStore({ clock });
    const deaf: SessionStore = { ...inner, log: { ...inner.log } };
    Reflect.deleteProperty(deaf.log, "subscribe");
    const proceed = deferred();
    const { session, again } = world([{ after: proceed.promise, error: "MODEL_AUTH" }, { text: "two" }], {
      session: { store: inner, clock },
    });
    const one = execute(session, "first");
    await calm();
    const follower = again({ store: deaf });
    const watched = resume(follower);
    await calm();
    const two = execute(session, "second");
    proceed.resolve();
    expect((await one.result()).status).toBe("error");
    expect((await two.result()).text).toBe("two");
    clock.advance(250);
    const result = await watched.result();
    expect(result).toMatchObject({ status: "error", error: { code: "MODEL_AUTH" } });
  });

  it("give a listener only the events from now on, once", async () => {
    const { session, again } = world([{ text: "one" }, { text: "two" }]);
    await execute(session, "first").result();
    const other = again();
    const published: SessionEvent[] = [];
    other.subscribe((events) => published.push(...events));
    await execute(other, "second").result();
    const started = published.flatMap((event) => (event.type === "run_start" ? [event.runId] : []));
    expect(started).toHaveLength(1);
  });

  it("are notified at once of what the other wrote while they were reading", async () => {
    const clock = manualClock();
    const inner = memoryStore({ clock });
    let onRead = async (): Promise<void> => {};
    const slow: SessionStore = {
      ...inner,
      log: {
        ...inner.log,
        read: async (session, options) => {
          const facts = await inner.log.read(session, options);
          await onRead();
          return facts;
        },
      },
    };
    const { session, again } = world([{ text: "half", hang: true }], { session: { store: inner, clock } });
    const owner = again({ store: slow });
    const stream = execute(owner, "hi");
    await calm();
    let reads = 0;
    onRead = async () => {
      if (reads++ === 0) await session.abort();
      await calm();
    };
    await session.ready();
    await session.change({ title: "a title" });
    for (let round = 0; round < 5; round++) await calm();
    expect(reads).toBeGreaterThan(0);
    expect(await howStands(stream.result())).toBe("resolved");
  });
});

describe("an input that waits behind a run that waits for its caller", () => {
  it("is followed to its answer when another handle answers the caller's call", async () => {
    const ask = defineTool({ name: "ask", description: "Asks", parameters });
    const { session, again } = world([{ calls: [{ name: "ask" }] }, { text: "one" }, { text: "two" }], { tools: [ask] });
    const { pendingToolCalls = [] } = await execute(session, "first").result();
    const queued = execute(session, "second");
    await calm();
    const other = again();
    const results = pendingToolCalls.map(({ toolCallId }) => ({
      role: "tool_result" as const,
      toolCallId,
      toolName: "ask",
      content: "yes",
    }));
    expect((await execute(other, results).result()).text).toBe("one");
    await calm();
    expect(await howStands(queued.result())).toBe("resolved");
    expect((await queued.result()).text).toBe("two");
  });
});

describe("the same words at two handles", () => {
  it("are one input until it is answered, since only its owner knows that it lives, and two from then on", async () => {
    const proceed = deferred();
    const { session, again, facts } = world([{ text: "one", after: proceed.promise }, { text: "two" }]);
    const one = execute(session, "yes");
    await calm();
    const two = execute(again(), "yes");
    await calm();
    proceed.resolve();
    expect([(await one.result()).text, (await two.result()).text]).toEqual(["one", "one"]);
    expect((await execute(again(), "yes").result()).text).toBe("two");
    expect((await facts()).filter(({ type }) => type === "input.accepted")).toHaveLength(2);
  });

  it("are two inputs after a crash when the second has a key of its own", async () => {
    const { session, again, facts } = world([{ text: "half", hang: true }, { text: "one" }, { text: "two" }]);
    execute(session, "yes");
    await calm();
    await session[Symbol.asyncDispose]();
    expect((await execute(again(), "yes", { idempotencyKey: "k" }).result()).text).toBe("two");
    expect((await facts()).filter(({ type }) => type === "input.accepted")).toHaveLength(2);
  });
});

describe("an owner whose first append is acknowledged late", () => {
  it("gets what others wrote meanwhile", async () => {
    const clock = manualClock();
    const inner = memoryStore({ clock });
    const acknowledged = deferred();
    const slow: SessionStore = {
      ...inner,
      log: {
        ...inner.log,
        append: async (session, request) => {
          const outcome = await inner.log.append(session, request);
          await acknowledged.promise;
          return outcome;
        },
      },
    };
    const { session, again } = world([{ text: "half", hang: true }], { session: { store: inner, clock } });
    const stream = execute(again({ store: slow }), "hi");
    await calm();
    await session.ready();
    expect(await session.abort()).toBe(true);
    acknowledged.resolve();
    await calm();
    expect(await howStands(stream.result())).toBe("resolved");
  });
});

describe("that joins a run while it streams", () => {
  it("gets the text so far as a snapshot, then the rest", async () => {
    const speaking = world([{ text: "one two", hang: true }]);
    const first = execute(speaking.session, "hi");
    await calm();
    const joined = resume(speaking.session);
    await calm();
    await first.abort();
    const events = await eventsOf(joined);
    expect(ofType(events, "message_snapshot")[0]).toMatchObject({ content: [{ type: "text", text: "one two" }] });
  });
});

describe("a session that is closed", () => {
  it("signals what runs, and keeps no lease and no timer", async () => {
    let signal: AbortSignal | undefined;
    const tool = defineTool({
      name: "work",
      description: "Works",
      parameters,
      execute: (_, context) => {
        signal = context.signal;
        return new Promise<string>(() => {});
      },
    });
    const { session, store, clock } = world([{ calls: [{ name: "work" }] }], { tools: [tool] });
    const stream = execute(session, "hi");
    await calm();
    await session.end();
    await calm();
    expect((await stream.result()).status).toBe("aborted");
    expect(signal?.aborted).toBe(true);
    expect((await store.log.head(ref)).lease).toBeUndefined();
    expect(clock.pending).toBe(0);
  });

  it("ends what waited as aborted, not as answered", async () => {
    const { session } = world([{ text: "never", hang: true }]);
    const one = execute(session, "one");
    const two = execute(session, "two");
    await calm();
    await session.end();
    expect((await one.result()).status).toBe("aborted");
    expect((await two.result()).status).toBe("aborted");
  });

  it("refuses changes", async () => {
    const { session } = world([{ text: "ok" }]);
    await execute(session, "one").result();
    await session.end();
    await expect(session.change({ title: "x" })).rejects.toMatchObject({ code: "SESSION_CLOSED" });
    await expect(session.moveHead(null)).rejects.toMatchObject({ code: "SESSION_CLOSED" });
    await session.end();
  });

  it("by another while it runs here ends the streams here", async () => {
    const { session, again, clock } = world([{ text: "never", hang: true }]);
    const stream = execute(session, "hi");
    await calm();
    const other = again();
    await other.ready();
    await other.end();
    await calm();
    expect((await stream.result()).status).toBe("aborted");
    expect(clock.pending).toBe(0);
  });
});

describe("a log that is taken away under a run", () => {
  it("by its removal ends the streams", async () => {
    const done = deferred<string>();
    const tool = defineTool({ name: "work", description: "Works", parameters, execute: () => done.promise });
    const { session, store, clock } = world([{ calls: [{ name: "work" }] }, { text: "ok" }], { tools: [tool] });
    const stream = execute(session, "hi");
    await calm();
    await store.log.remove(ref);
    done.resolve("done");
    await calm();
    expect(await howStands(stream.result())).toBe("rejected");
    await expect(stream.result()).rejects.toMatchObject({ code: "SESSION_CLOSED" });
    expect(clock.pending).toBe(0);
  });

  it("by a restore of an older state fails loudly", async () => {
    const clock = manualClock();
    const inner = memoryStore({ clock });
    let isRestored = false;
    let asked = 0;
    const store: SessionStore = {
      ...inner,
      log: {
        ...inner.log,
        append: async (session, request) => {
          if (isRestored && ++asked > 20) return new Promise(() => {});
          return isRestored ? { type: "conflict", actualSeq: 2 } : inner.log.append(session, request);
        },
        read: async (session, options) =>
          isRestored ? (await inner.log.read(session, options)).slice(0, 0) : inner.log.read(session, options),
      },
    };
    const done = deferred<string>();
    const tool = defineTool({ name: "work", description: "Works", parameters, execute: () => done.promise });
    const { session } = world([{ calls: [{ name: "work" }] }, { text: "ok" }], { tools: [tool], session: { store, clock } });
    const stream = execute(session, "hi");
    await calm();
    isRestored = true;
    done.resolve("done");
    await calm();
    await expect(Promise.race([stream.result(), calm().then(() => "pending")])).rejects.toMatchObject({ code: "SESSION_CORRUPT" });
    expect(asked).toBe(1);
  });
});

describe("what a user writes", () => {
  it("about surrogates in escapes is kept as it is, and a lone surrogate is replaced", async () => {
    const { session, provider } = world([{ text: "ok" }]);
    const text = 'What is "\\ud83d\\ude00"? And \ud83d alone?';
    await execute(session, text).result();
    expect(provider.requests[0]?.messages).toEqual([{ role: "user", content: 'What is "\\ud83d\\ude00"? And \ufffd alone?' }]);
  });
});
