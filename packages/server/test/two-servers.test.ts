import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ManualClock, manualClock, memoryChannel, seededIds, seededRandom } from "@loopwright/core/memory";
import type { SessionStore } from "@loopwright/core/ports";
import { cursorAfter, encodeCursor } from "@loopwright/core/protocol";
import { sqliteStore } from "@loopwright/store-sqlite";
import { afterEach, describe, expect, it } from "vitest";
import { runClock, until } from "../../host/test/turn-of-loop.ts";
import { busyAgent } from "./busy-agent.ts";
import { differences, flawsOf, flawsOfExecution, historyOf } from "./busy-cuts.ts";
import { keepBusyUntil } from "./busy-people.ts";
import { watchStream } from "./commanded-scene.ts";
import { type Connect, connectInProcess, textOfAnswer } from "./connection.ts";
import { executeWithCuts, followWithCuts, type Manner } from "./cut-readers.ts";
import { openStreamDoor, type StreamDoor } from "./stream-door.ts";

interface Pair {
  readonly doors: readonly [StreamDoor, StreamDoor];
  readonly connects: readonly [Connect, Connect];
  readonly stores: readonly [SessionStore, SessionStore];
  readonly clock: ManualClock;
  readonly random: () => number;
  /** A store has been asked something: the disk knows nothing of the clock of the test. */
  readonly isReading: () => boolean;
}

const closings: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});

interface PairOptions {
  readonly mayNotify: boolean;
  /** They share a channel too. */
  readonly isLinked?: boolean;
}

/** Two servers that share a file. Where the log may not notify of appends, its tail is looked at by the clock of the test. */
async function openPair(seed: number, { mayNotify, isLinked = false }: PairOptions): Promise<Pair> {
  const directory = await mkdtemp(join(tmpdir(), "two-servers-"));
  closings.push(() => rm(directory, { recursive: true, force: true }));
  const [clock, random] = [manualClock(), seededRandom(seed)];
  const linked = isLinked ? { channel: memoryChannel() } : {};
  let asked = 0;
  const counted = <Args extends readonly unknown[], T>(act: (...args: Args) => Promise<T>): ((...args: Args) => Promise<T>) => {
    return (...args) => {
      asked += 1;
      return act(...args).finally(() => {
        asked -= 1;
      });
    };
  };
  const open = (place: number): { readonly store: SessionStore; readonly door: StreamDoor } => {
    const whole = sqliteStore({ path: join(directory, "sessions.db"), clock });
    const { append, read, head, claim, renew } = whole.log;
    const { subscribe, ...silent } = {
      ...whole.log,
      ...{ append: counted(append), read: counted(read), head: counted(head), claim: counted(claim), renew: counted(renew) },
    };
    const store = { ...whole, log: mayNotify && subscribe ? { ...silent, subscribe } : silent };
    // Short ages of streams: what rests ends them, and nothing else does.
    const limits = { pingMs: 300, streamAgeMs: 2_000, ...(random() < 0.5 ? { recentEvents: 8, sessionIdleMs: 500 } : {}) };
    const door = openStreamDoor({
      agents: [busyAgent(random, { mayHang: false })],
      ...linked,
      store,
      clock,
      ids: seededIds(seed * 10 + place),
      limits,
    });
    closings.push(() => whole.close());
    closings.push(() => door.close());
    return { store, door };
  };
  const [a, b] = [open(1), open(2)];
  return {
    isReading: () => asked > 0,
    ...{ clock, random, doors: [a.door, b.door], stores: [a.store, b.store] },
    connects: [connectInProcess(a.door.fetch), connectInProcess(b.door.fetch)],
  };
}

/** Both have seen all of the log, and nothing moves. */
function bothRest({ doors, stores }: Pair, session: string): Promise<void> {
  const hasAll = (door: StreamDoor, lastSeq: number): Promise<boolean> =>
    door.use(session, (hosted) => hosted.session.isResting && hosted.session.lastSeq === lastSeq);
  return until(async () => {
    const { lastSeq } = await stores[0].log.head({ scope: "local", session });
    return (await hasAll(doors[0], lastSeq)) && (await hasAll(doors[1], lastSeq));
  }, "both servers rest");
}

describe("two servers over one file", () => {
  it("give readers that alternate between them each event once and in order", async () => {
    let cuts = 0;
    const done = new Set<string>();
    for (let seed = 1; seed <= Number(process.env["LOOPWRIGHT_TWO_SERVERS"] ?? 3); seed++) {
      const isLinked = seed % 3 === 0;
      const pair = await openPair(seed, { mayNotify: seed % 3 === 1, isLinked });
      const { doors, connects, random, clock } = pair;
      const stop = runClock(clock, 1, pair.isReading);
      const sessionId = `shared-${seed}`;
      await doors[0].open(sessionId);
      const tally = { connections: 0, cuts: 0 };
      const either: Connect = (ask) => connects[random() < 0.5 ? 0 : 1](ask);
      let isOver = false;
      const shared = { random, tally, sessionId, isOver: () => isOver, mayLag: isLinked };
      const manners: readonly Manner[] = ["header", "query", "now", "query"];
      const reading = manners.map((manner, at) => followWithCuts({ ...shared, manner, connect: at === 3 ? connects[1] : either }));
      const executing = executeWithCuts({ ...shared, connect: either, input: "Both of you", key: `key-${seed}` });
      const people = { use: ((id, work) => doors[random() < 0.7 ? 0 : 1].use(id, work)) satisfies StreamDoor["use"] as StreamDoor["use"] };
      const [deeds, execution] = await keepBusyUntil(executing, { door: people, sessionId, random, deeds: 8 });
      await bothRest(pair, sessionId);
      isOver = true;
      const readers = await Promise.all(reading);
      stop();
      const history = await historyOf(pair.stores[1], sessionId);
      expect(differences(await historyOf(pair.stores[0], sessionId), history)).toEqual([]);
      for (const [at, reader] of readers.entries()) expect(flawsOf(reader, history), `reader ${at}, seed ${seed}`).toEqual([]);
      expect(flawsOfExecution(execution, history), `execution, seed ${seed}`).toEqual([]);
      for (const deed of Object.keys(deeds)) done.add(deed);
      expect(readers[3]?.durable.length).toBe(history.length);
      cuts += tally.cuts;
    }
    expect(cuts).toBeGreaterThan(150);
    expect([...done]).toContain("say"); // Eight draws of one seed may well be without it.
  });

  it("do not end the stream of a reader whose server has not seen yet that the other one continues the run", async () => {
    const pair = await openPair(4, { mayNotify: false });
    const { doors, connects, stores, clock } = pair;
    await doors[0].open("s");
    const path = "/api/sessions/s/events";
    const [seen] = (await stores[0].log.read({ scope: "local", session: "s" })).slice(-1);
    const headers = { "Last-Event-ID": encodeCursor(cursorAfter(seen?.seq ?? 0)) };
    expect((await connects[1]({ path, headers }))?.status).toBe(204);
    const sent = await connects[0]({ path: "/api/sessions/s/messages", method: "POST", body: { message: "Go on" } });
    expect(sent?.status).toBe(202);
    // The clock stands still: the other server has not looked.
    const answer = await connects[1]({ path, headers });
    expect(answer?.status).toBe(200);
    const stop = runClock(clock, 1, pair.isReading);
    const text = answer ? await textOfAnswer(answer) : "";
    expect(text).toContain("retry:");
    await bothRest(pair, "s");
    stop();
  });

  it("show each other's appends on streams that are open", async () => {
    const pair = await openPair(5, { mayNotify: false });
    const { doors, connects, stores, clock } = pair;
    await doors[0].open("s");
    const watching = await watchStream(connects[1], { path: "/api/sessions/s/events?after=" });
    await watching.got("rest");
    await doors[0].use("s", ({ session }) => session.change({ title: "Told" }));
    const stop = runClock(clock, 1, pair.isReading);
    await watching.got("session_changed");
    stop();
    expect(watching.reader.durable).toEqual(await historyOf(stores[0], "s"));
    expect(watching.reader.flaws).toEqual([]);
    await watching.connection.cut();
  });
});
