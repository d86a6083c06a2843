import { createSession, execute, readHistory } from "@loopwright/core";
import { memoryStore } from "@loopwright/core/memory";
import type { SessionStore } from "@loopwright/core/ports";
import type { DurableEvent, EventCursor } from "@loopwright/core/protocol";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { scriptedAgent } from "../../test/test-server.ts";
import { keptBatches, SharedHistory } from "./shared-log-read.ts";

const ref = { scope: "local", session: "a" };
const start: EventCursor = { seq: 0, k: 0 };
const real = memoryStore();
let lastSeq = 0;
let whole: readonly (readonly DurableEvent[])[];
/** Facts that were read. */
let reads = 0;
let isBroken = false;

const read: SessionStore["log"]["read"] = async (of, range) => {
  if (isBroken) throw new Error("The disk is gone.");
  const facts = await real.log.read(of, range);
  reads += facts.length;
  return facts;
};
const store = { ...real, log: { ...real.log, read } };

async function gathered(batches: AsyncIterable<readonly DurableEvent[]>): Promise<(readonly DurableEvent[])[]> {
  const all: (readonly DurableEvent[])[] = [];
  for await (const batch of batches) all.push(batch);
  return all;
}

beforeAll(async () => {
  const session = createSession({ agent: scriptedAgent(), store: real, id: ref.session, access: { user: "local", scope: ref.scope } });
  while (lastSeq < 1_500) {
    await execute(session, "Hi").result();
    ({ lastSeq } = await real.log.head(ref));
  }
  await session[Symbol.asyncDispose]();
  whole = await gathered(readHistory(real, ref));
  expect(whole.length).toBeGreaterThan(keptBatches + 1);
});

beforeEach(() => {
  reads = 0;
  isBroken = false;
});

describe("readers of one log", () => {
  it("that ask for the same place at the same time share one read", async () => {
    const history = new SharedHistory(store, ref);
    const all = await Promise.all(Array.from({ length: 20 }, () => gathered(history.after(start, lastSeq))));
    for (const one of all) expect(one).toEqual(whole);
    expect(reads).toBe(lastSeq);
  });

  it("do not wait for a slow one, which reads on alone once it is too far behind", async () => {
    const history = new SharedHistory(store, ref);
    const slow = history.after(start, lastSeq);
    const first = await slow.next();
    expect(await gathered(history.after(start, lastSeq))).toEqual(whole);
    expect(reads).toBe(lastSeq);
    const rest = await gathered(slow);
    expect([first.value, ...rest].flat()).toEqual(whole.flat());
    expect(reads).toBeGreaterThan(lastSeq);
  });

  it("begin a read of their own where the log has grown since, or its beginning is no longer kept", async () => {
    const history = new SharedHistory(store, ref);
    const before = history.after(start, lastSeq - 1);
    await before.next();
    expect(await gathered(history.after(start, lastSeq))).toEqual(whole);
    expect(reads).toBeGreaterThan(lastSeq);
    const ahead = history.after(start, lastSeq);
    for (let batch = 0; batch <= keptBatches; batch++) await ahead.next();
    reads = 0;
    expect(await gathered(history.after(start, lastSeq))).toEqual(whole);
    expect(reads).toBe(lastSeq);
    await Promise.all([before.return(), ahead.return()]);
  });

  it("end it with the last of them", async () => {
    const history = new SharedHistory(store, ref);
    const both = [history.after(start, lastSeq), history.after(start, lastSeq)];
    for (const one of both) await one.next();
    for (const one of both) await one.return();
    const before = reads;
    expect(before).toBeLessThan(lastSeq);
    expect(await gathered(history.after(start, lastSeq))).toEqual(whole);
    expect(reads).toBe(before + lastSeq);
  });

  it("all get the error of the store, and a later reader begins a new read", async () => {
    const history = new SharedHistory(store, ref);
    const both = [history.after(start, lastSeq), history.after(start, lastSeq)];
    await Promise.all(both.map((one) => one.next()));
    isBroken = true;
    for (const one of await Promise.allSettled(both.map((one) => one.next()))) expect(one.status).toBe("rejected");
    isBroken = false;
    expect(await gathered(history.after(start, lastSeq))).toEqual(whole);
  });
});
