import { describe, expect, it } from "vitest";
import { defineTool, execute, resume } from "../src/index.ts";
import { memoryStore } from "../src/memory/index.ts";
import { manualClock } from "../src/memory/manual-clock.ts";
import type { AppendRequest, SessionStore } from "../src/ports/index.ts";
import { calm, deferred, eventsOf, howStands, ofType, world } from "./harness.ts";

const leaseMs = 20_000;

describe("a lease that is lost", () => {
  it("while a hook thinks lets nothing be written or launched under it", async () => {
    const clock = manualClock();
    const inner = memoryStore({ clock });
    const appends: AppendRequest[] = [];
    const store: SessionStore = {
      ...inner,
      log: {
        ...inner.log,
        renew: async () => false,
        append: (ref, request) => {
          appends.push(request);
          return inner.log.append(ref, request);
        },
      },
    };
    const thought = deferred();
    let asked = 0;
    const prepare = async (): Promise<undefined> => {
      asked += 1;
      if (asked === 1) await thought.promise;
      return undefined;
    };
    const { session, provider } = world([{ text: "done" }], { hooks: [{ name: "prepare", prepare }], session: { store, clock } });
    const stream = execute(session, "hi");
    await calm();
    clock.advance(leaseMs / 2);
    await calm();
    thought.resolve();
    const { text } = await stream.result();
    expect(text).toBe("done");
    expect(provider.requests).toHaveLength(1);
    const ofOwner = appends.filter(({ facts }) => facts.some(({ type }) => type === "model.started" || type === "run.started"));
    expect(ofOwner.map(({ epoch }) => epoch)).not.toContain(undefined);
    for (const { epoch, facts } of ofOwner) expect(facts.every((fact) => fact.epoch === epoch)).toBe(true);
  });

  it("while a batch is written launches nothing of it", async () => {
    const clock = manualClock();
    const inner = memoryStore({ clock });
    const written = deferred();
    const proceed = deferred();
    let isFirst = true;
    const store: SessionStore = {
      ...inner,
      log: {
        ...inner.log,
        renew: async () => !isFirst,
        append: async (ref, request) => {
          const outcome = await inner.log.append(ref, request);
          if (!isFirst) return outcome;
          written.resolve();
          await proceed.promise;
          isFirst = false;
          return outcome;
        },
      },
    };
    const { session, provider, types } = world([{ text: "done" }], { session: { store, clock, leaseMs: 6_000 } });
    const stream = execute(session, "hi");
    await written.promise;
    clock.advance(2_200);
    await calm();
    proceed.resolve();
    expect((await stream.result()).text).toBe("done");
    expect(provider.requests).toHaveLength(1);
    expect((await types()).filter((type) => type === "owner.claimed")).toHaveLength(2);
  });

  it("is noticed in time although the store never answers a renewal", async () => {
    const clock = manualClock();
    const inner = memoryStore({ clock });
    const store: SessionStore = { ...inner, log: { ...inner.log, renew: () => new Promise(() => {}) } };
    let signal: AbortSignal | undefined;
    const tool = defineTool({
      name: "work",
      description: "Works",
      parameters: { type: "object" },
      execute: (_, context) => {
        signal = context.signal;
        return new Promise<string>(() => {});
      },
    });
    const { session } = world([{ calls: [{ name: "work" }] }, { text: "ok" }], { tools: [tool], session: { store, clock } });
    execute(session, "hi");
    await calm();
    expect(signal?.aborted).toBe(false);
    clock.advance(leaseMs * 0.9 + 1);
    expect(signal?.aborted).toBe(true);
  });

  it("ends the lanes that were open: late deltas of a tool are not published", async () => {
    const clock = manualClock();
    const inner = memoryStore({ clock });
    let mayRenew = false;
    const store: SessionStore = { ...inner, log: { ...inner.log, renew: async (ref, lease) => mayRenew && inner.log.renew(ref, lease) } };
    const done = deferred<string>();
    const prints: ((title: string) => void)[] = [];
    const tool = defineTool({
      name: "work",
      description: "Works",
      parameters: { type: "object" },
      replay: "pure",
      execute: (_, context) => {
        prints.push((title) => context.progress(title));
        return prints.length === 1 ? new Promise<string>(() => {}) : done.promise;
      },
    });
    const { session } = world([{ calls: [{ name: "work" }] }, { text: "ok" }], { tools: [tool], session: { store, clock } });
    const stream = execute(session, "hi");
    const read = eventsOf(stream);
    await calm();
    clock.advance(leaseMs / 2);
    mayRenew = true;
    await calm();
    prints[0]?.("too late");
    prints[1]?.("in time");
    expect(session.status).toBe("running");
    done.resolve("done");
    const events = await read;
    expect(ofType(events, "tool_execution_start")).toHaveLength(2);
    expect(ofType(events, "progress").map(({ title }) => title)).not.toContain("too late");
    expect(ofType(events, "progress").map(({ title }) => title)).toContain("in time");
  });
});

describe("a claim that others were faster than", () => {
  it("is in the log all the same: the outcome of what the dead owner started is unknown, and the run continues", async () => {
    const clock = manualClock();
    const inner = memoryStore({ clock });
    let isFirst = true;
    const store: SessionStore = {
      ...inner,
      log: {
        ...inner.log,
        append: async (ref, request) => {
          const facts = [{ type: "session.changed", title: "faster", at: 1, v: 1 } as const];
          if (isFirst) await inner.log.append(ref, { expectedSeq: request.expectedSeq, batchId: "other", facts });
          isFirst = false;
          return inner.log.append(ref, request);
        },
      },
    };
    const { session, again, types } = world([{ text: "half", hang: true }, { text: "whole" }], { session: { store: inner, clock } });
    execute(session, "hi");
    await calm();
    await session[Symbol.asyncDispose]();
    const stream = resume(again({ store }));
    await calm();
    expect(await howStands(stream.result())).toBe("resolved");
    expect((await stream.result()).text).toBe("whole");
    expect((await types()).filter((type) => type === "owner.claimed")).toHaveLength(2);
  });
});

describe("a claim by another while a closing fact is on its way", () => {
  it("leaves nothing pending at the old owner", async () => {
    const clock = manualClock();
    const proceed = deferred<string>();
    const tool = defineTool({ name: "work", description: "Works", parameters: { type: "object" }, execute: () => proceed.promise });
    const { session, store } = world([{ calls: [{ name: "work" }] }], { tools: [tool], session: { clock, store: memoryStore({ clock }) } });
    const stream = execute(session, "hi");
    await calm();
    const ref = { scope: "local", session: "s1" };
    const { epoch } = await store.log.head(ref);
    await store.log.release(ref, epoch);
    await store.log.claim(ref, { node: "other", leaseMs });
    proceed.resolve("late");
    await calm();
    expect(await howStands(stream.result())).toBe("pending");
    await session[Symbol.asyncDispose]();
    expect(await howStands(stream.result())).toBe("rejected");
    expect(clock.pending).toBe(0);
  });
});
