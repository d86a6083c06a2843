import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, it } from "vitest";
import {
  AgentError,
  defineTool,
  execute,
  type Fact,
  type ObservedEffect,
  type Observer,
  resume,
  type SessionSnapshot,
  type Tool,
} from "../src/index.ts";
import { memoryStore } from "../src/memory/index.ts";
import type { Logger, SessionStore } from "../src/ports/index.ts";
import { calm, world } from "./harness.ts";

const adder = (more: Partial<Tool> = {}): Tool =>
  defineTool({ name: "add", description: "Adds.", parameters: { type: "object" }, execute: () => "3", ...more });
const twoTurns = [{ text: "Let me see.", calls: [{ name: "add" }] }, { text: "It is 3." }];

interface Seen {
  readonly observer: Observer;
  readonly batches: { readonly facts: readonly Fact[]; readonly snapshot: SessionSnapshot }[];
  readonly attempts: { readonly effect: ObservedEffect; end: string | undefined }[];
  readonly bugs: { readonly where: string; readonly error: unknown }[];
}

function watching(): Seen {
  const batches: Seen["batches"] = [];
  const attempts: Seen["attempts"] = [];
  const bugs: Seen["bugs"] = [];
  return {
    ...{ batches, attempts, bugs },
    observer: {
      facts: (_, facts, snapshot) => void batches.push({ facts, snapshot: snapshot() }),
      effect(_, effect) {
        const entry: Seen["attempts"][number] = { effect, end: undefined };
        attempts.push(entry);
        return {
          end(closing) {
            entry.end = `${entry.end ?? ""}${closing?.type ?? "left"}`;
          },
        };
      },
      bug: (_, where, error) => void bugs.push({ where, error }),
    },
  };
}

const seqsOf = ({ batches }: Seen): readonly number[] => batches.flatMap(({ facts }) => facts.map(({ seq }) => seq));

function loggerOf() {
  const entries: { readonly message: string; readonly fields: { readonly [name: string]: unknown } }[] = [];
  const logger: Logger = { log: (level, message, fields = {}) => void (level === "error" && entries.push({ message, fields })) };
  return { logger, entries };
}

/** A store that counts the reads of the log. */
function countedStore() {
  const real = memoryStore();
  const counts = { reads: 0 };
  const log: SessionStore["log"] = {
    ...real.log,
    read(...args) {
      counts.reads += 1;
      return real.log.read(...args);
    },
  };
  return { counts, store: { ...real, log } };
}

describe("an observer of facts", () => {
  it("gets every fact of the log once, in order, each batch when the log has it, with the session as it is then", async () => {
    const seen = watching();
    const lengths: (readonly [number, number])[] = [];
    const inLog: Observer = {
      async facts(ref, facts) {
        const { lastSeq } = await store.log.head(ref);
        lengths.push([facts.at(-1)?.seq ?? 0, lastSeq]);
      },
    };
    const { session, store, facts } = world(twoTurns, { tools: [adder()], session: { observers: [seen.observer, inLog] } });
    await execute(session, "Add").result();
    const log = await facts();
    expect(seen.batches.flatMap((batch) => batch.facts)).toEqual(log);
    expect(lengths.every(([observed, last]) => last >= observed)).toBe(true);
    expect(seen.batches.at(-1)?.snapshot.messages).toHaveLength(session.messages.length);
    const counts = seen.batches.map(({ snapshot }) => snapshot.messages.length);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(counts[0]).toBeLessThan(counts.at(-1) ?? 0);
  });

  it("gets what a handle records that does not drive", async () => {
    const [recorded, driven] = [watching(), watching()];
    const { session, again, facts } = world(twoTurns, { tools: [adder()], session: { drives: false, observers: [recorded.observer] } });
    await session.submit("Add");
    const owner = again({ drives: true, observers: [driven.observer] });
    await resume(owner).result();
    expect(seqsOf(recorded)).toEqual([1, 2]);
    // The owner observes again what the first handle recorded, because no owner had observed it.
    expect(seqsOf(driven)).toEqual((await facts()).map(({ seq }) => seq));
    expect(driven.batches[0]?.facts.map(({ type }) => type)).toEqual(["session.opened", "input.accepted"]);
  });

  it("gets from a new owner what the one before it may not have observed, and nothing twice from one that continues", async () => {
    const [first, second] = [watching(), watching()];
    const { session, again, facts } = world([{ text: "One." }, { text: "Two." }, { text: "Three." }, { text: "Four." }], {
      session: { observers: [first.observer] },
    });
    await execute(session, "1").result();
    const before = (await facts()).length;
    await execute(session, "2").result();
    expect(seqsOf(first)).toEqual((await facts()).map(({ seq }) => seq));
    const claims = (await facts()).filter(({ type }) => type === "owner.claimed").map(({ seq }) => seq);
    const other = again({ observers: [second.observer] });
    await execute(other, "3").result();
    const last = (await facts()).length;
    const since = claims.at(-1) ?? 0;
    expect(since).toBeGreaterThan(1);
    expect(since).toBeGreaterThan(before - 5);
    expect(seqsOf(second)).toEqual(Array.from({ length: last - since + 1 }, (_, at) => since + at));
    await execute(other, "4").result();
    expect(seqsOf(second)).toEqual(Array.from({ length: (await facts()).length - since + 1 }, (_, at) => since + at));
  });

  it("is given by the owner after a crash all that the crashed one observed nowhere, however many facts that are", async () => {
    const seen = watching();
    const calls = Array.from({ length: 60 }, (_, at) => ({ name: "add", id: `c${at}` }));
    const { session, again, facts } = world([{ calls }, { calls }, { text: "Done." }, { text: "More." }], { tools: [adder()] });
    await execute(session, "Add a lot").result();
    const unobserved = (await facts()).length;
    expect(unobserved).toBeGreaterThan(200);
    const next = again({ observers: [seen.observer] });
    await execute(next, "And more").result();
    await calm();
    expect(seqsOf(seen)).toEqual((await facts()).map(({ seq }) => seq));
  });

  it("gets the end of a session from the process that completes its removal, if the one that recorded the end has died", async () => {
    const [reader, remover] = [watching(), watching()];
    const { session, again, facts } = world([{ text: "One." }]);
    await execute(session, "1").result();
    await session.end({ erase: "always" });
    await again({ observers: [reader.observer] }).ready();
    await again({ observers: [remover.observer] }).end({ erase: "always" });
    expect(remover.batches.flatMap((batch) => batch.facts)).toEqual([(await facts()).at(-1)]);
    expect(remover.batches[0]?.facts[0]).toMatchObject({ type: "session.closed", erase: true });
    expect(seqsOf(reader)).toEqual([]);
  });

  it("gets the end of a session once from the process that both records it and removes the session", async () => {
    const seen = watching();
    const { session, facts } = world([{ text: "One." }], { session: { observers: [seen.observer] } });
    await execute(session, "1").result();
    await session.end({ erase: "always" });
    expect(seqsOf(seen)).toEqual((await facts()).map(({ seq }) => seq));
  });

  it("keeps the order though the facts before a claim take long to read", async () => {
    const seen = watching();
    const gate = Promise.withResolvers<void>();
    let isSlow = false;
    const real = memoryStore();
    const log = {
      ...real.log,
      read: (...args: Parameters<typeof real.log.read>) =>
        isSlow && args[1]?.limit !== undefined ? gate.promise.then(() => real.log.read(...args)) : real.log.read(...args),
    };
    const { session, again, facts } = world([{ text: "One." }, { text: "Two." }], { session: { store: { ...real, log } } });
    await execute(session, "1").result();
    const next = again({ observers: [seen.observer] });
    await next.ready();
    isSlow = true;
    await execute(next, "2").result();
    expect(seqsOf(seen)).toEqual([]);
    gate.resolve();
    await calm();
    expect(seqsOf(seen)).toEqual((await facts()).map(({ seq }) => seq));
  });
});

describe("an observer of attempts", () => {
  it("follows each attempt of a model call and of a tool from its start to its closing fact", async () => {
    const seen = watching();
    const error = new AgentError("MODEL_OVERLOADED", { message: "Busy." });
    const { session, clock } = world([{ error }, ...twoTurns], { tools: [adder()], session: { observers: [seen.observer] } });
    const result = execute(session, "Add").result();
    await expect
      .poll(async () => {
        clock.advance(1_000);
        return (await Promise.race([result, calm()]))?.status;
      })
      .toBe("completed");
    expect(seen.attempts.map(({ effect, end }) => [effect.type, "attempt" in effect ? effect.attempt : 0, end])).toEqual([
      ["call-model", 1, "model.failed"],
      ["call-model", 2, "model.finished"],
      ["run-tool", 1, "tool.finished"],
      ["call-model", 1, "model.finished"],
    ]);
    expect(seen.attempts[0]?.effect).toMatchObject({ provider: "scripted", model: expect.any(String), turn: 1 });
    expect(seen.attempts[2]?.effect).toMatchObject({ tool: "add", callKey: expect.stringMatching(/\.1\.0$/) });
    expect(new Set(seen.attempts.map(({ effect }) => effect.id)).size).toBe(4);
  });

  it("sets a context in which providers and tools run", async () => {
    const [one, other] = [new AsyncLocalStorage<string>(), new AsyncLocalStorage<string>()];
    const found: string[] = [];
    const observer = (storage: AsyncLocalStorage<string>): Observer => ({
      effect: (_, { type }) => ({ around: (run) => storage.run(type, run) }),
    });
    const note = (): void => void found.push(`${one.getStore()} ${other.getStore()}`);
    const add = adder({
      async execute() {
        await Promise.resolve();
        note();
        return "3";
      },
    });
    const script = (_: never, call: number) => {
      note();
      return twoTurns[call - 1] ?? {};
    };
    const { session } = world(script, { tools: [add], session: { observers: [observer(one), observer(other)] } });
    await execute(session, "Add").result();
    expect(found).toEqual(["call-model call-model", "run-tool run-tool", "call-model call-model"]);
  });

  it("gets the outcome `left` of an attempt when its session is disposed of", async () => {
    const seen = watching();
    const { session } = world([{ calls: [{ name: "add" }] }], {
      tools: [adder({ execute: (_, { signal }) => new Promise((_resolve, reject) => signal.addEventListener("abort", reject)) })],
      session: { observers: [seen.observer] },
    });
    void execute(session, "Add")
      .result()
      .catch(() => {});
    await expect.poll(() => seen.attempts.length).toBe(2);
    await session[Symbol.asyncDispose]();
    await expect.poll(() => seen.attempts.map(({ end }) => end)).toEqual(["model.finished", "left"]);
  });
});

describe("an observer that fails", () => {
  const thrown = new TypeError("observer down", { cause: new RangeError("why") });
  const fail = (): never => {
    throw thrown;
  };
  const failing: { readonly [name: string]: Observer } = {
    "in `facts`": { facts: fail },
    "in `facts`, later": { facts: (async () => fail()) as never },
    "in `effect`": { effect: fail },
    "in `around` before the attempt": { effect: () => ({ around: fail }) },
    "in `around` after the attempt": {
      effect: () => ({
        around(run) {
          run();
          return fail();
        },
      }),
    },
    "in `end`": { effect: () => ({ end: fail }) },
    "in `around` that never runs the attempt": { effect: () => ({ around: (() => undefined) as never }) },
    "in `around` that runs the attempt twice": {
      effect: () => ({
        around(run) {
          run();
          return run();
        },
      }),
    },
  };

  it.each(Object.entries(failing))(
    "%s changes nothing of the run, and the next observer sees the same as without it",
    async (name, observer) => {
      const [alone, beside] = [watching(), watching()];
      const { logger, entries } = loggerOf();
      let starts = 0;
      const tools = [adder({ execute: () => String(++starts) })];
      const quiet = world(twoTurns, { tools, session: { observers: [alone.observer] } });
      await execute(quiet.session, "Add").result();
      const loud = world(twoTurns, { tools, session: { observers: [observer, beside.observer], logger } });
      expect((await execute(loud.session, "Add").result()).status).toBe("completed");
      await calm();
      expect(starts).toBe(2);
      expect(await loud.types()).toEqual(await quiet.types());
      expect(beside.batches.map(({ facts }) => facts.map(({ type }) => type))).toEqual(
        alone.batches.map(({ facts }) => facts.map(({ type }) => type)),
      );
      expect(beside.attempts.map(({ effect, end }) => [effect.type, end])).toEqual(
        alone.attempts.map(({ effect, end }) => [effect.type, end]),
      );
      const isSilent = name.includes("never runs") || name.includes("twice");
      expect(entries.length > 0).toBe(!isSilent);
      for (const { message, fields } of entries) {
        expect(message).toMatch(/^The method `\w+` of an observer threw an error\.$/);
        expect(fields).toMatchObject({
          session: "s1",
          error: { name: "TypeError", message: "observer down", cause: { name: "RangeError" } },
        });
      }
      expect(beside.bugs.map(({ error }) => error)).toEqual(entries.map(() => thrown));
    },
  );

  it("in `bug` is reported to the logger, and not to itself", async () => {
    const { logger, entries } = loggerOf();
    const seen = watching();
    const tools = [adder({ execute: fail })];
    const { session } = world(twoTurns, { tools, session: { observers: [{ bug: fail }, seen.observer], logger } });
    await execute(session, "Add").result();
    expect(entries.map(({ message }) => message)).toEqual([
      "The tool `add` threw an error.",
      "The method `bug` of an observer threw an error.",
    ]);
    expect(seen.bugs).toEqual([{ where: "The tool `add` threw an error.", error: thrown }]);
  });

  it("to return is not waited for", async () => {
    const never: Observer = {
      facts: (() => new Promise(() => {})) as never,
      effect: () => ({ end: (() => new Promise(() => {})) as never }),
    };
    const { session } = world(twoTurns, { tools: [adder()], session: { observers: [never] } });
    expect((await execute(session, "Add").result()).status).toBe("completed");
  });
});

describe("without an observer of facts", () => {
  it("nothing more is read", async () => {
    const reads: number[] = [];
    for (const observers of [undefined, [], [{ effect: () => undefined, bug() {} }]] as const) {
      const { counts, store } = countedStore();
      const { session, again } = world([{ text: "One." }, { text: "Two." }], { session: { store, ...(observers ? { observers } : {}) } });
      await execute(session, "1").result();
      const next = again();
      await execute(next, "2").result();
      reads.push(counts.reads);
    }
    expect(new Set(reads).size).toBe(1);
  });
});
