/*
 * Two nodes on one log, and every order in which their requests can reach the place. The promise: once a claim is in the log, nothing of an
 * older epoch follows it; whatever was acknowledged is in the log, once; and no caller gets a tail that is not one.
 */

import { manualClock, seededRandom } from "@loopwright/core/memory";
import type { AppendOutcome, ClaimOutcome, SessionLog } from "@loopwright/core/ports";
import { expect, it } from "vitest";
import { blobStore } from "../src/index.ts";
import { openEntry } from "../src/log/log-entry.ts";
import { type MemoryBlobs, memoryBlobs } from "./memory-blobs.ts";
import { type Choose, everyOrder, Scheduler } from "./scheduler.ts";

const ref = { scope: "local", session: "first" };
const ordersMax = Number(process.env["LOOPWRIGHT_ORDERS"] ?? 600);

interface World {
  readonly blobs: MemoryBlobs;
  /** A node whose requests wait for their turn under its name. */
  readonly node: (name: string) => SessionLog;
  readonly run: (work: readonly Promise<unknown>[]) => Promise<readonly string[]>;
}

/** An old owner at epoch 1 with one batch in the log, whose lease is over; nodes that know the log. */
async function takeOver(choose: Choose, compactAfter = 1_000): Promise<World & { readonly old: SessionLog; readonly heir: SessionLog }> {
  const clock = manualClock();
  const blobs = memoryBlobs({ clock });
  const scheduler = new Scheduler();
  let isScheduled = false;
  const node = (name: string): SessionLog => {
    const mine = memoryBlobs({ clock, before: () => (isScheduled ? scheduler.turn(name) : undefined) });
    const shared: MemoryBlobs = { ...mine, objects: blobs.objects };
    return blobStore({
      blobs: onto(shared, blobs, () => (isScheduled ? scheduler.turn(name) : undefined)),
      compactAfter,
    }).log;
  };
  const [old, heir] = [node("old"), node("heir")];
  await old.claim(ref, { node: "old", leaseMs: 15_000 });
  await old.append(ref, { ...batch("b1", 0), epoch: 1, due: 0 });
  await heir.head(ref);
  clock.advance(15_001);
  isScheduled = true;
  return {
    blobs,
    node,
    old,
    heir,
    async run(work) {
      const order = await scheduler.run(work, choose);
      isScheduled = false;
      return order;
    },
  };
}

/** The objects of `place`, each request of which waits. */
function onto(shared: MemoryBlobs, place: MemoryBlobs, turn: () => Promise<void> | undefined): MemoryBlobs {
  return {
    ...shared,
    async get(key) {
      await turn();
      return place.get(key);
    },
    async put(key, bytes, options) {
      await turn();
      return place.put(key, bytes, options);
    },
    async has(key) {
      await turn();
      return place.has(key);
    },
    async list(prefix, options) {
      await turn();
      return place.list(prefix, options);
    },
    async remove(key) {
      await turn();
      return place.remove(key);
    },
  };
}

const batch = (batchId: string, expectedSeq: number) => ({
  batchId,
  expectedSeq,
  facts: [{ type: "session.changed" as const, title: batchId, at: 1, v: 1 }],
});

/** The entries of the slots, in their order: `claim <epoch>` and the ids of batches. */
function slotsOf({ blobs }: World): readonly string[] {
  const keys = [...blobs.objects.keys()].filter((key) => key.includes("/slots/")).sort();
  let before = "";
  return keys.map((key) => {
    const entry = openEntry(blobs.objects.get(key)?.bytes ?? new Uint8Array(), { key, before });
    before = entry.digest;
    return entry.claim ? `claim ${entry.claim.epoch}` : (entry.batchId ?? "");
  });
}

/** A check of one outcome against the log; throws what is wrong. */
function checkAppend(slots: readonly string[], batchId: string, outcome: AppendOutcome): void {
  const isIn = slots.filter((slot) => slot === batchId).length;
  expect(isIn, `${batchId} answered ${outcome.type} in ${slots.join(", ")}`).toBe(outcome.type === "ok" || outcome.type === "dup" ? 1 : 0);
}

it("in no order of their requests does an old owner write after an heir's claim, and the claim names the tail it has", async () => {
  const seen = new Map<string, number>();
  const orders = await everyOrder(async (choose) => {
    const world = await takeOver(choose);
    const outcomes: { written?: AppendOutcome; claimed?: ClaimOutcome } = {};
    await world.run([
      world.old.append(ref, { ...batch("late", 1), epoch: 1 }).then((outcome) => (outcomes.written = outcome)),
      world.heir.claim(ref, { node: "heir", leaseMs: 15_000 }).then((outcome) => (outcomes.claimed = outcome)),
    ]);
    const slots = slotsOf(world);
    const { written, claimed } = outcomes;
    if (!written || claimed?.type !== "claimed") throw new Error(`The claim was ${claimed?.type}.`);
    checkAppend(slots, "late", written);
    expect(slots.at(-1) === "claim 2" || written.type === "fenced").toBe(true);
    expect(claimed).toMatchObject({ epoch: 2, lastSeq: written.type === "ok" ? 2 : 1 });
    const after = await world.old.append(ref, { ...batch("later", written.type === "ok" ? 2 : 1), epoch: 1 });
    expect(after).toEqual({ type: "fenced", currentEpoch: 2 });
    seen.set(written.type, (seen.get(written.type) ?? 0) + 1);
  }, ordersMax);
  expect([...seen.keys()].sort()).toEqual(["fenced", "ok"]);
  console.info(`An append against a claim: ${orders} orders, ${JSON.stringify(Object.fromEntries(seen))}.`);
});

it("of an owner that renews late and an heir that claims one wins, in every order, and the loser gets the refusal", async () => {
  const seen = new Map<string, number>();
  const orders = await everyOrder(async (choose) => {
    const world = await takeOver(choose);
    const outcomes: { renewed?: boolean; claimed?: ClaimOutcome } = {};
    await world.run([
      world.old.renew(ref, { epoch: 1, leaseMs: 15_000 }).then((renewed) => (outcomes.renewed = renewed)),
      world.heir.claim(ref, { node: "heir", leaseMs: 15_000 }).then((claimed) => (outcomes.claimed = claimed)),
    ]);
    const { renewed, claimed } = outcomes;
    expect([renewed, claimed?.type]).toSatisfy(([won, claim]) => (won ? claim === "held" : claim === "claimed"));
    expect((await world.heir.head(ref)).lease?.node).toBe(renewed ? "old" : "heir");
    seen.set(renewed ? "renewed" : "claimed", (seen.get(renewed ? "renewed" : "claimed") ?? 0) + 1);
  }, ordersMax);
  expect(seen.size).toBe(2);
  console.info(`A renewal against a claim: ${orders} orders, ${JSON.stringify(Object.fromEntries(seen))}.`);
});

it("of two heirs one gets the session in every order, under the next epoch", async () => {
  const orders = await everyOrder(async (choose) => {
    const world = await takeOver(choose);
    const second = world.old;
    const claims: ClaimOutcome[] = [];
    await world.run([
      world.heir.claim(ref, { node: "heir", leaseMs: 15_000 }).then((claim) => claims.push(claim)),
      second.claim(ref, { node: "second", leaseMs: 15_000 }).then((claim) => claims.push(claim)),
    ]);
    expect(claims.filter(({ type }) => type === "claimed")).toEqual([{ type: "claimed", epoch: 2, lastSeq: 1 }]);
    expect(slotsOf(world).filter((slot) => slot.startsWith("claim"))).toEqual(["claim 1", "claim 2"]);
  }, ordersMax);
  console.info(`A claim against a claim: ${orders} orders.`);
});

it("a session that needs an owner is found in every order in which one owner marks it as due and another as not", async () => {
  const seen = new Map<string, number>();
  const orders = await everyOrder(async (choose) => {
    const world = await takeOver(choose);
    await world.run([
      world.old.append(ref, { ...batch("rest", 1), epoch: 1, due: null }),
      world.heir.append(ref, { ...batch("wake", 1), due: 0 }).then((outcome) => {
        if (outcome.type === "conflict") return world.heir.append(ref, { ...batch("wake", outcome.actualSeq), due: 0 });
      }),
    ]);
    const last = slotsOf(world).at(-1) ?? "";
    const due = await world.node("sweeper").due({ now: 1 });
    expect(due, last).toEqual(last === "wake" ? [{ ref, due: 0 }] : []);
    seen.set(last, (seen.get(last) ?? 0) + 1);
  }, ordersMax);
  expect([...seen.keys()]).toContain("wake");
  console.info(`A rest against a command: ${orders} orders, ${JSON.stringify(Object.fromEntries(seen))}.`);
});

it("commands, an old owner, an heir and a removal in random orders leave one sequence that holds what was acknowledged", async () => {
  const rounds = Number(process.env["LOOPWRIGHT_ROUNDS"] ?? 50);
  for (let seed = 1; seed <= rounds; seed++) {
    const random = seededRandom(seed);
    const world = await takeOver((waiting) => Math.floor(random() * waiting.length), 2);
    const other = world.node("command");
    const outcomes = new Map<string, AppendOutcome>();
    const say = (log: SessionLog, batchId: string, epoch?: number) => async (): Promise<void> => {
      let seq = 1;
      for (let tries = 0; tries < 9; tries++) {
        const outcome = await log.append(ref, { ...batch(batchId, seq), ...(epoch === undefined ? {} : { epoch }) });
        outcomes.set(batchId, outcome);
        if (outcome.type !== "conflict") return;
        seq = outcome.actualSeq;
      }
    };
    const isRemoved = seed % 5 === 0;
    await world.run([
      say(world.old, "x1", 1)().then(say(world.old, "x2", 1)),
      world.heir
        .claim(ref, { node: "heir", leaseMs: 15_000 })
        .then(say(world.heir, "y1", 2))
        .then(say(world.heir, "y2", 2)),
      say(other, "c1")()
        .then(say(other, "c2"))
        .then(() => (isRemoved ? other.remove(ref) : undefined)),
    ]);
    const fresh = world.node("fresh");
    const facts = await fresh.read(ref);
    const titles = facts.map((fact) => ("title" in fact ? fact.title : ""));
    expect(
      facts.map(({ seq }) => seq),
      `seed ${seed}`,
    ).toEqual(facts.map((_, at) => at + 1));
    if (isRemoved) {
      expect(titles, `seed ${seed}`).toEqual([]);
      expect(await world.old.append(ref, batch("after", 0)), `seed ${seed}`).toEqual({ type: "closed" });
      continue;
    }
    for (const [batchId, { type }] of outcomes)
      expect(titles.filter((title) => title === batchId).length, `seed ${seed}, ${batchId}: ${type}`).toBe(type === "ok" ? 1 : 0);
    for (const log of [world.old, world.heir, other])
      expect(
        (await log.read(ref)).map(({ seq, ...fact }) => fact),
        `seed ${seed}`,
      ).toEqual(facts.map(({ seq, ...fact }) => fact));
  }
  console.info(`Four parties in random orders: ${rounds} rounds.`);
});
