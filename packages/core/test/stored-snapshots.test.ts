import { simulateLoop } from "@loopwright/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { foldReadFacts } from "../src/driver/log/fold-read-facts.ts";
import { createStoredSnapshots, type StoredSnapshots } from "../src/driver/log/stored-fold-snapshots.ts";
import { depsOf } from "../src/driver/session/resolve-session-options.ts";
import { snapshotLimits } from "../src/driver/setup/fold-snapshot-limits.ts";
import { type AgentSession, type DurableEvent, execute, type Fact, type Json, type JsonObject, readHistory } from "../src/index.ts";
import { fold, foldAll } from "../src/loop/fold.ts";
import { stateDigest } from "../src/loop/split-state-for-snapshot.ts";
import { emptyState, type State } from "../src/loop/state.ts";
import { memoryStore } from "../src/memory/index.ts";
import { manualClock } from "../src/memory/manual-clock.ts";
import { seededIds } from "../src/memory/seeded-ids.ts";
import { digestOf } from "../src/message/digest.ts";
import type { Logger, SessionStore } from "../src/ports/index.ts";
import { appendLimits } from "../src/ports/session-log.ts";
import { compareCursors, type EventCursor } from "../src/protocol/index.ts";
import { calm, deferred, type World, world } from "./harness.ts";

const ref = { scope: "local", session: "s1" };
/** Rough sessions that are cut at every few facts; more in `npm run long-tests`. */
const roundCount = Number(process.env["LOOPWRIGHT_SNAPSHOT_ROUNDS"] ?? 1);

interface Written {
  readonly level: string;
  readonly reason: Json | undefined;
}

function listening(): { readonly logger: Logger; readonly written: Written[]; alarms(): readonly (Json | undefined)[] } {
  const written: Written[] = [];
  const logger: Logger = { log: (level, _, fields) => void written.push({ level, reason: fields?.["reason"] }) };
  return { logger, written, alarms: () => written.filter(({ level }) => level === "error").map(({ reason }) => reason) };
}

function snapshotsOf(store: SessionStore, logger: Logger = listening().logger, snapshotCheckShare = 0): StoredSnapshots {
  return createStoredSnapshots({ store, ref, sessionId: ref.session, ids: seededIds(1), logger, snapshotCheckShare });
}

/** A snapshot whatever the limits give. */
async function keep(snapshots: StoredSnapshots, state: State, published?: EventCursor): Promise<void> {
  snapshots.grew(snapshotLimits.bytes);
  snapshots.onState(state, published);
  await calm();
}

async function loadedBy(
  snapshots: StoredSnapshots,
): Promise<{ readonly state: State; readonly from: number; readonly lastEvent: EventCursor | undefined }> {
  const { base, lastEvent: published, facts } = await snapshots.load(Number.POSITIVE_INFINITY);
  const { state, events } = foldReadFacts(base, facts, ref.session);
  return { state, from: base.seq, lastEvent: events.at(-1) ?? published };
}

async function append(store: SessionStore, facts: readonly Fact[]): Promise<void> {
  for (let from = 0; from < facts.length; from += appendLimits.facts) {
    const some = facts.slice(from, from + appendLimits.facts);
    const first = some[0]?.seq ?? 1;
    await store.log.append(ref, { expectedSeq: first - 1, batchId: `b${first}`, facts: some });
  }
}

type Simulated = ReturnType<typeof simulateLoop>;

const longSessions = new Map<number, Simulated>();

/** A rough session that is long enough for snapshots; of one seed always the same. */
function longSession(seed: number): Simulated {
  const made = longSessions.get(seed) ?? simulateLong(seed);
  longSessions.set(seed, made);
  return made;
}

function simulateLong(seed: number): Simulated {
  for (let steps = 250; ; steps += 100) {
    const simulated = simulateLoop(seed, { steps });
    if (simulated.facts.length >= snapshotLimits.facts + 60) return simulated;
  }
}

describe("a state", () => {
  it("that was kept at any moment of a rough session, and the tail of the log after it, make the state of the whole log", async () => {
    const seeds = fc.integer({ min: 1, max: 2 ** 31 - 1 });
    let cuts = 0;
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const { facts, states } = longSession(seed);
        const store = memoryStore();
        await append(store, facts);
        const whole = stateDigest(states.at(-1) as State);
        const { logger, written } = listening();
        const { events } = foldReadFacts(emptyState, facts, ref.session);
        for (let cut = 1; cut <= facts.length; cut += 1 + (cut % 4)) {
          const published = events.findLast(({ seq }) => seq <= cut);
          await keep(snapshotsOf(store, logger), states[cut] as State, published && { seq: published.seq, k: published.k });
          const { state, from, lastEvent } = await loadedBy(snapshotsOf(store, logger));
          expect(from).toBe(cut);
          expect(lastEvent).toMatchObject({ seq: events.at(-1)?.seq, k: events.at(-1)?.k });
          expect(stateDigest(state)).toBe(whole);
          cuts += 1;
        }
        const { state } = await loadedBy(snapshotsOf(store, logger, 1));
        expect(JSON.parse(JSON.stringify(state.run ?? null))).toEqual(JSON.parse(JSON.stringify((states.at(-1) as State).run ?? null)));
        expect(written).toEqual([]);
      }),
      { numRuns: roundCount },
    );
    expect(cuts).toBeGreaterThan(60 * roundCount);
  });
});

describe("the history of a session with a snapshot", () => {
  const published = async (store: SessionStore, after: EventCursor): Promise<readonly DurableEvent[]> => {
    const events: DurableEvent[] = [];
    for await (const batch of readHistory(store, ref, { after })) events.push(...batch);
    return events;
  };

  it("after any cursor is the rest of the whole, and begins at the snapshot where that is before the cursor", async () => {
    const { facts, states } = longSession(4);
    const { store, reads } = watched(memoryStore());
    await append(store, facts);
    const all = await published(store, { seq: 0, k: 0 });
    const cut = snapshotLimits.facts + 20;
    await keep(snapshotsOf(store), states[cut] as State);
    for (const after of all.filter(({ seq }) => seq > cut - 30)) {
      reads.length = 0;
      expect(await published(store, after)).toEqual(all.filter((event) => compareCursors(event, after) > 0));
      expect(reads.includes(1)).toBe(after.seq <= cut);
    }
  });

  it("that is not what was written is the rest of the whole too", async () => {
    const { facts, states } = longSession(4);
    const store = memoryStore();
    await append(store, facts);
    const after = { seq: facts.length - 20, k: 0 };
    const whole = await published(store, after);
    await keep(snapshotsOf(store), states[snapshotLimits.facts] as State);
    const { name, text } = await chunkOf(store);
    await store.snapshots.put(ref, name, text.slice(1));
    expect(whole.length).toBeGreaterThan(0);
    expect(await published(store, after)).toEqual(whole);
  });
});

/** A session of so many runs of one answer: six facts each. */
async function talk(session: AgentSession, runs: number): Promise<void> {
  for (let run = 0; run < runs; run++) expect((await execute(session, `question ${run}`).result()).status).toBe("completed");
  await calm();
}

const answering = (): World => world((_, call) => ({ text: `answer ${call} ${"x".repeat(200)}` }));
const runsOf = (facts: number): number => Math.ceil(facts / 4) + 2;

/** What is asked of the store beneath. */
interface Watched {
  readonly store: SessionStore;
  readonly reads: (number | undefined)[];
  readonly puts: [string, Json][];
  /** Resolves once a snapshot is whole. */
  readonly whole: Promise<void>;
}

function watched(store: SessionStore): Watched {
  const reads: (number | undefined)[] = [];
  const puts: [string, Json][] = [];
  const whole = deferred();
  const log: SessionStore["log"] = {
    ...store.log,
    read(session, options) {
      reads.push(options?.from);
      return store.log.read(session, options);
    },
  };
  const snapshots: SessionStore["snapshots"] = {
    ...store.snapshots,
    async put(session, name, value) {
      if (name.startsWith("fold")) puts.push([name, value]);
      await store.snapshots.put(session, name, value);
      if (name === "fold") whole.resolve();
    },
  };
  return { store: { ...store, log, snapshots }, reads, puts, whole: whole.promise };
}

describe("a session", () => {
  it("keeps a snapshot after 200 facts, from which the next handle continues with later facts", async () => {
    const clock = manualClock();
    const { store, reads, puts } = watched(memoryStore({ clock }));
    const { session, again, facts } = world(() => ({ text: "yes" }), { session: { store, clock } });
    await talk(session, 10);
    expect(puts).toEqual([]);
    await talk(session, runsOf(snapshotLimits.facts));
    expect(puts.length).toBeGreaterThan(1);
    await talk(session, 3);
    const { seq } = await headIn(store);
    reads.length = 0;
    const other = await again().ready();
    expect(reads).toEqual([1, seq]);
    expect(seq).toBeGreaterThanOrEqual(snapshotLimits.facts);
    expect(other.lastSeq).toBe((await facts()).length);
    expect(other.snapshot()).toEqual(session.snapshot());
    expect((await execute(other, "and now?").result()).text).toBe("yes");
  });

  it("keeps one after 1 MiB of facts too", async () => {
    const { store, puts } = watched(memoryStore());
    const { session } = world(() => ({ text: "y".repeat(30_000) }), { session: { store } });
    await talk(session, 30);
    expect(session.lastSeq).toBeLessThan(snapshotLimits.facts);
    expect(puts.map(([name]) => name)).toContain("fold");
  });

  it("writes what is new with each snapshot, not what it has written before", async () => {
    const { store, puts } = watched(memoryStore());
    const { session } = world((_, call) => ({ text: `answer ${call} ${"x".repeat(200)}` }), { session: { store } });
    await talk(session, 6 * runsOf(snapshotLimits.facts));
    const chunks = puts.filter(([name]) => name !== "fold").map(([, text]) => String(text).length);
    const heads = puts.filter(([name]) => name === "fold").map(([, head]) => JSON.stringify(head).length);
    expect(heads.length).toBeGreaterThan(5);
    expect(chunks.length).toBe(heads.length);
    expect(Math.max(...chunks)).toBeLessThan(1.2 * Math.min(...chunks));
    expect(Math.max(...heads) - Math.min(...heads)).toBeLessThan(20 * heads.length);
  });

  it("that is private to its handle keeps none", async () => {
    const { store, puts } = watched(memoryStore());
    const parts = { store, ref, sessionId: "s1", ids: seededIds(1), logger: listening().logger };
    const snapshots = createStoredSnapshots({ ...parts, snapshotCheckShare: depsOf({ agent: answering().agent }).snapshotCheckShare });
    const { facts, states } = longSession(1);
    await append(store, facts);
    await keep(snapshots, states.at(-1) as State);
    expect(puts).toEqual([]);
    expect(depsOf({ agent: answering().agent, store }).snapshotCheckShare).toBe(0.01);
  });

  it("continues if snapshots cannot be written, with one warning for each that is due", async () => {
    const { logger, written } = listening();
    const real = memoryStore();
    const snapshots = { ...real.snapshots, put: async (): Promise<void> => Promise.reject(new Error("disk full")) };
    const { session, again } = world(() => ({ text: "yes" }), { session: { store: { ...real, snapshots }, logger } });
    await talk(session, 2 * runsOf(snapshotLimits.facts));
    expect(written.filter(({ level }) => level === "warn").length).toBeGreaterThan(1);
    expect(written.filter(({ level }) => level === "warn").length).toBeLessThan(4);
    expect((await again().ready()).snapshot()).toEqual(session.snapshot());
  });

  it("takes its snapshots along when it is removed, also one that is being written", async () => {
    const { store, puts } = watched(memoryStore());
    let held: (() => void) | undefined;
    const hold = (resolve: () => void): void => {
      held = resolve;
    };
    const snapshots: SessionStore["snapshots"] = {
      ...store.snapshots,
      async put(session, name, value) {
        if (puts.length >= 2) await new Promise<void>(hold);
        await store.snapshots.put(session, name, value);
      },
    };
    const { session } = world(() => ({ text: "yes" }), { session: { store: { ...store, snapshots } } });
    await talk(session, 2 * runsOf(snapshotLimits.facts));
    expect(held).toBeDefined();
    await store.log.remove(ref);
    for (let round = 0; round < 5; round++) {
      held?.();
      await calm();
    }
    for (const [name] of puts) expect(await store.snapshots.get(ref, name), name).toBeUndefined();
  });

  it("keeps large payloads by reference", async () => {
    const big = "x".repeat(400_000);
    const { store, puts, whole } = watched(memoryStore());
    const { session, again } = world((_, call) => ({ text: call === 3 ? big : "yes" }), { session: { store } });
    await talk(session, 5);
    const blobs = await store.blobs.list("local");
    expect(blobs).toHaveLength(1);
    await talk(session, runsOf(snapshotLimits.facts));
    await whole;
    for (const [name, value] of puts) expect(JSON.stringify(value).length, name).toBeLessThan(300_000);
    expect(await store.blobs.list("local")).toEqual(blobs);
    const other = await again({ snapshotCheckShare: 1 }).ready();
    expect(JSON.stringify(other.messages)).toContain(big);
    expect(other.snapshot()).toEqual(session.snapshot());
  });

  it("that was lost with its store gives its followers every event once, though a snapshot was written meanwhile", async () => {
    const clock = manualClock();
    const real = memoryStore({ clock });
    let isAway = false;
    const log: SessionStore["log"] = {
      ...real.log,
      read: (...args) => (isAway ? Promise.reject(new Error("away")) : real.log.read(...args)),
    };
    const { session, again } = world(() => ({ text: "yes" }), { session: { store: real, clock } });
    const follower = again({ store: { ...real, log }, drives: false });
    const published: DurableEvent[] = [];
    const follow = (): (() => void) =>
      follower.follow({
        events: (news) => void published.push(...news.filter((event): event is DurableEvent => "seq" in event)),
        lost: () => void follow(),
      });
    follow();
    await talk(session, 5);
    isAway = true;
    await talk(session, runsOf(snapshotLimits.facts));
    isAway = false;
    for (let second = 0; second < 20; second++) {
      clock.advance(1_000);
      await calm();
    }
    const all: DurableEvent[] = [];
    for await (const batch of readHistory(real, ref)) all.push(...batch);
    expect(published.map(({ seq, k }) => `${seq}.${k}`)).toEqual(all.map(({ seq, k }) => `${seq}.${k}`));
    expect(await real.snapshots.get(ref, "fold")).toBeDefined();
  });
});

/** A store with a session of one snapshot and some facts after it, and what its state is. */
async function withSnapshot(): Promise<{ readonly store: SessionStore; readonly truth: string; readonly facts: readonly Fact[] }> {
  const { session, store, facts } = answering();
  await talk(session, runsOf(snapshotLimits.facts) + 4);
  const all = await facts();
  return { store, truth: stateDigest(foldAll(emptyState, all)), facts: all };
}

interface Head extends JsonObject {
  readonly seq: number;
  readonly chunks: readonly string[];
}

async function headIn({ snapshots }: SessionStore): Promise<Head> {
  return JSON.parse(((await snapshots.get(ref, "fold")) as { readonly text: string }).text) as Head;
}

const putHead = ({ snapshots }: SessionStore, head: Json): Promise<void> => {
  const text = JSON.stringify(head);
  return snapshots.put(ref, "fold", { digest: digestOf(text), text });
};

async function chunkOf(store: SessionStore): Promise<{ readonly name: string; readonly text: string }> {
  const name = `fold.0.${(await headIn(store)).chunks[0]}`;
  return { name, text: (await store.snapshots.get(ref, name)) as string };
}

const flaws: { readonly [what: string]: (store: SessionStore) => Promise<unknown> } = {
  "whose chunk is missing": async (store) => store.snapshots.remove(ref, (await chunkOf(store)).name),
  "whose chunk is cut off": async (store) => {
    const { name, text } = await chunkOf(store);
    await store.snapshots.put(ref, name, text.slice(0, text.length / 2));
  },
  "with one other character in a chunk": async (store) => {
    const { name, text } = await chunkOf(store);
    await store.snapshots.put(ref, name, text.replace("question 3", "question 4"));
  },
  "with a chunk that is no text": async (store) => store.snapshots.put(ref, (await chunkOf(store)).name, { history: [] }),
  "whose head is cut off": async (store) => {
    const { digest, text } = (await store.snapshots.get(ref, "fold")) as { readonly digest: string; readonly text: string };
    await store.snapshots.put(ref, "fold", { digest, text: text.slice(0, 100) });
  },
  "whose head is something else": (store) => store.snapshots.put(ref, "fold", 7),
  "whose head names other lengths": async (store) => {
    const head = await headIn(store);
    await putHead(store, { ...head, lengths: { ...(head["lengths"] as JsonObject), history: 3 } });
  },
  "that ends with another fact than the log has there": async (store) => {
    const head = await headIn(store);
    await putHead(store, { ...head, seq: head.seq - 1 });
  },
  "that ends behind the log": async (store) => {
    const head = await headIn(store);
    await putHead(store, { ...head, seq: head.seq + 1_000 });
  },
};

describe("a snapshot", () => {
  it.each(Object.keys(flaws))("%s is not used, the operator gets a warning, and the next one is whole", async (what) => {
    const { store, truth } = await withSnapshot();
    await flaws[what]?.(store);
    const { logger, alarms } = listening();
    const snapshots = snapshotsOf(store, logger);
    const { state, from } = await loadedBy(snapshots);
    expect({ from, digest: stateDigest(state) }).toEqual({ from: 0, digest: truth });
    expect(alarms()).toHaveLength(1);
    await keep(snapshots, state);
    const healed = await loadedBy(snapshotsOf(store, logger, 1));
    expect({ from: healed.from, digest: stateDigest(healed.state) }).toEqual({ from: state.seq, digest: truth });
    expect(alarms()).toHaveLength(1);
  });

  it("that cannot be read is as good as none", async () => {
    const { store, truth } = await withSnapshot();
    const { logger, alarms } = listening();
    const snapshots = { ...store.snapshots, get: async () => Promise.reject(new Error("no")) };
    const { state } = await loadedBy(snapshotsOf({ ...store, snapshots }, logger));
    expect(stateDigest(state)).toBe(truth);
    expect(alarms()).toEqual(["reading the snapshot failed with STORE_UNAVAILABLE"]);
  });

  it("of another version of the fold is left alone without alarm, and makes room for the next one", async () => {
    const { store, truth } = await withSnapshot();
    const head = await headIn(store);
    await putHead(store, { ...head, fold: 0 });
    const { logger, written } = listening();
    const snapshots = snapshotsOf(store, logger);
    const { state, from } = await loadedBy(snapshots);
    expect({ from, digest: stateDigest(state) }).toEqual({ from: 0, digest: truth });
    await keep(snapshots, state);
    expect((await headIn(store)).seq).toBe(state.seq);
    for (const [place, digest] of head.chunks.entries()) {
      const isKept = (await headIn(store)).chunks[place] === digest;
      expect((await store.snapshots.get(ref, `fold.${place}.${digest}`)) !== undefined).toBe(isKept);
    }
    expect(written).toEqual([]);
  });

  it("that is whole and wrong is found by folding the whole log, where that is asked for", async () => {
    const { store, truth, facts } = await withSnapshot();
    const head = await headIn(store);
    const wrong = { ...foldAll(emptyState, facts.slice(0, head.seq)), title: "never said" };
    await store.snapshots.remove(ref, "fold");
    await keep(snapshotsOf(store), wrong);
    expect((await loadedBy(snapshotsOf(store))).state.title).toBe("never said");
    const { logger, alarms } = listening();
    const snapshots = snapshotsOf(store, logger, 1);
    const { state, from } = await loadedBy(snapshots);
    expect({ from, digest: stateDigest(state) }).toEqual({ from: 0, digest: truth });
    expect(alarms()).toEqual(["folding the log gives another state"]);
    await keep(snapshots, state);
    expect(stateDigest((await loadedBy(snapshotsOf(store))).state)).toBe(truth);
  });

  it("is checked so often as is asked for: by default one in a hundred", async () => {
    const { store } = await withSnapshot();
    let checks = 0;
    const log: SessionStore["log"] = {
      ...store.log,
      read(session, options) {
        if (options?.from === 1 && options.limit !== snapshotLimits.facts) checks += 1;
        return store.log.read(session, options);
      },
    };
    const ids = seededIds(3);
    const shelf = { store: { ...store, log }, ref, sessionId: "s1", ids, logger: listening().logger };
    for (let load = 0; load < 1_000; load++)
      await createStoredSnapshots({ ...shelf, snapshotCheckShare: snapshotLimits.checkShare }).load(Number.POSITIVE_INFINITY);
    expect(checks).toBeGreaterThan(2);
    expect(checks).toBeLessThan(25);
  });

  it("is not written onto one of a history that the log has lost", async () => {
    const { store, facts } = await withSnapshot();
    const { seq } = await headIn(store);
    const other = memoryStore();
    const grown = facts.map((fact) => (fact.seq === seq - 1 || fact.seq === seq ? { ...fact, at: fact.at + 1 } : fact));
    await append(other, grown);
    const shelf: SessionStore = { ...other, snapshots: store.snapshots };
    const state = foldAll(emptyState, grown);
    await keep(snapshotsOf(shelf), state);
    const { logger, written } = listening();
    const loaded = await loadedBy(snapshotsOf(shelf, logger, 1));
    expect({ from: loaded.from, digest: stateDigest(loaded.state) }).toEqual({ from: state.seq, digest: stateDigest(state) });
    expect(written).toEqual([]);
  });
});

describe("row 26: a process that dies while it writes a snapshot", () => {
  const never = new Promise<never>(() => {});
  const deaths = ["before the store has it", "with half of it written", "once the store has it"] as const;
  const cases = deaths.flatMap((when) => [1, 2, 3].map((put) => ({ when, put })));

  it.each(cases)("at its put $put, $when, leaves a session that opens with the state of its log", async ({ when, put }) => {
    const { store, facts } = await withSnapshot();
    const states: State[] = [emptyState];
    for (const fact of facts) states.push(fold(states.at(-1) as State, fact));
    let puts = 0;
    const snapshots: SessionStore["snapshots"] = {
      ...store.snapshots,
      async put(session, name, value) {
        puts += 1;
        if (puts > put) return never;
        if (puts < put) return store.snapshots.put(session, name, value);
        if (when === "with half of it written") await store.snapshots.put(session, name, halfOf(value));
        if (when === "once the store has it") await store.snapshots.put(session, name, value);
        return never;
      },
    };
    const dying = snapshotsOf({ ...store, snapshots });
    // Three puts: a chunk for each of two growths, then a head after either.
    const half = (await headIn(store)).seq + 3;
    await keep(dying, states[half] as State);
    await keep(dying, states.at(-1) as State);
    expect(puts).toBe(put);
    const { logger, alarms } = listening();
    const { state } = await loadedBy(snapshotsOf(store, logger, 1));
    expect(stateDigest(state)).toBe(stateDigest(states.at(-1) as State));
    expect(alarms()).toEqual(when === "with half of it written" && put === 2 ? ["the head does not match its digest"] : []);
    const next = snapshotsOf(store);
    await next.load(Number.POSITIVE_INFINITY);
    await keep(next, state);
    const healed = await loadedBy(snapshotsOf(store, logger, 1));
    expect({ from: healed.from, digest: stateDigest(healed.state) }).toEqual({ from: facts.length, digest: stateDigest(state) });
  });
});

function halfOf(value: Json): Json {
  if (typeof value === "string") return value.slice(0, value.length / 2);
  const { digest, text } = value as { readonly digest: string; readonly text: string };
  return { digest, text: text.slice(0, text.length / 2) };
}
