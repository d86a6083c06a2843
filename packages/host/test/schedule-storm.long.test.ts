import { createAgent, type Fact } from "@loopwright/core";
import {
  type ManualClock,
  manualClock,
  memoryChannel,
  memoryQueue,
  memoryStore,
  scripted,
  seededIds,
  silentLogger,
} from "@loopwright/core/memory";
import type { RunQueueWorker, ScheduleRules, SessionStore } from "@loopwright/core/ports";
import { expect, it, onTestFinished } from "vitest";
import { createHost, createRuntime, createWorker } from "../src/index.ts";
import { runClock, until } from "./turn-of-loop.ts";

const minute = 60_000;
const [sessionCount, perSession, firingCount] = [10, 5, 20];

/** Dates on whole minutes of the epoch: `<n>` is each n-th minute. */
const minutes: ScheduleRules = {
  next: (rule, { after }) => (Math.floor(after / (Number(rule) * minute)) + 1) * Number(rule) * minute,
};

it("1,000 firings of 50 schedules over three nodes of which one is killed again and again, at the edge of a firing too: each exactly once", async () => {
  const clock = manualClock();
  clock.advance(60 * minute - (clock.now() % (60 * minute)));
  const begin = clock.now();
  const world = { clock, store: memoryStore({ clock }), random: randomOf(7) };
  const nodes = [openNode(world, 1), openNode(world, 2), openNode(world, 3)];
  onTestFinished(() => Promise.all(nodes.map((node) => node.close())).then(() => {}));
  const server = createHost({ runtime: runtimeOf(world.store, { clock, place: 0 }), role: "server" });
  onTestFinished(() => server.close());
  const expected = new Map<string, readonly number[]>();
  for (let at = 0; at < sessionCount; at++) expected.set(`s${at}`, []);
  for (const id of expected.keys()) {
    const { session, release } = await server.sessions.create({ user: "ann", scope: "acme" }, { id });
    for (let place = 0; place < perSession; place++) {
      const every = 10 + place;
      // Half of them by an interval, half by a rule.
      const dates = place % 2 === 0 ? { everyMs: every * minute } : { cron: String(every) };
      await session.schedule(`every-${every}`, { input: "Report.", ...dates });
    }
    release();
  }
  onTestFinished(runClock(clock, 500));
  const firingsOf = async (id: string): Promise<readonly Firing[]> =>
    (await world.store.log.read({ scope: "acme", session: id })).flatMap(firing);
  const isDone = async (): Promise<boolean> => {
    for (const id of expected.keys()) {
      const counts = Map.groupBy(await firingsOf(id), ({ schedule }) => schedule);
      for (let place = 0; place < perSession; place++) if ((counts.get(`every-${10 + place}`)?.length ?? 0) < firingCount) return false;
    }
    return true;
  };
  let kills = 0;
  let nextKill = clock.now() + 3 * minute;
  let looked = 0;
  await until(
    async () => {
      if (clock.now() >= nextKill) {
        const place = Math.floor(world.random() * nodes.length);
        const victim = nodes[place] as StormNode;
        if (victim.isDead()) {
          nodes[place] = openNode(world, 4 + ++kills);
          nextKill = clock.now() + (2 + Math.floor(world.random() * 6)) * minute;
        } else if (!nodes.some((node) => node.isDoomed())) victim.killAtNextAppend(world.random() < 0.5 ? "before" : "after");
      }
      return ++looked % 400 === 0 && (await isDone());
    },
    "every schedule has fired twenty times",
    2_000_000,
  );
  expect(kills).toBeGreaterThan(10);
  let total = 0;
  for (const id of expected.keys()) {
    const bySchedule = Map.groupBy(await firingsOf(id), ({ schedule }) => schedule);
    for (let place = 0; place < perSession; place++) {
      const every = 10 + place;
      const dues = (bySchedule.get(`every-${every}`) ?? []).map(({ due }) => due).slice(0, firingCount);
      const first = place % 2 === 0 ? (dues[0] ?? 0) : (Math.floor(begin / (every * minute)) + 1) * every * minute;
      expect(dues, `${id} every-${every}`).toEqual(Array.from({ length: firingCount }, (_, k) => first + k * every * minute));
      total += new Set(dues).size;
    }
  }
  expect(total).toBe(1_000);
});

interface Firing {
  readonly schedule: string;
  readonly due: number;
}

const firing = (fact: Fact): readonly Firing[] =>
  fact.type === "input.accepted" && fact.origin?.type === "schedule" ? [{ schedule: fact.origin.schedule, due: fact.origin.due }] : [];

interface StormNode {
  isDead(): boolean;
  /** It will die at its next append, or is dead and not yet replaced. */
  isDoomed(): boolean;
  /** Its process dies as it records the next facts: before the store has them, or after, without its answer. */
  killAtNextAppend(when: "before" | "after"): void;
  close(): Promise<unknown>;
}

interface StormWorld {
  readonly clock: ManualClock;
  readonly store: SessionStore;
}

const queue = memoryQueue();
const channel = memoryChannel();

function runtimeOf(store: SessionStore, { clock, place }: { readonly clock: ManualClock; readonly place: number }) {
  const agent = createAgent({ name: "reporter", provider: scripted(() => ({ text: "Done." })) });
  const shared = { queue, channel, clock, logger: silentLogger, ids: seededIds(place + 1), scheduleRules: minutes };
  return createRuntime({ ...shared, store, agents: [agent] });
}

function openNode({ clock, store: whole }: StormWorld, place: number): StormNode {
  let isDead = false;
  let doom: "before" | "after" | undefined;
  const never = new Promise<never>(() => {});
  const takers: RunQueueWorker[] = [];
  const mortal =
    <Args extends readonly unknown[], T>(act: (...args: Args) => Promise<T>) =>
    (...args: Args): Promise<T> =>
      isDead ? never : act(...args).then((value) => (isDead ? never : value));
  const { log } = whole;
  const store: SessionStore = {
    ...whole,
    log: {
      ...log,
      async append(ref, request) {
        if (doom === "before") isDead = true;
        if (isDead) return never;
        const outcome = await log.append(ref, request);
        if (doom === "after") isDead = true;
        return isDead ? never : outcome;
      },
      read: mortal((ref, options) => log.read(ref, options)),
      head: mortal((ref) => log.head(ref)),
      claim: mortal((ref, claim) => log.claim(ref, claim)),
      renew: mortal((ref, lease) => log.renew(ref, lease)),
      release: mortal((ref, epoch) => log.release(ref, epoch)),
      due: mortal((options) => log.due(options)),
      setDue: mortal((ref, how) => log.setDue(ref, how)),
    },
  };
  const runtime = runtimeOf(store, { clock, place });
  const watched = {
    ...queue,
    work(...args: Parameters<typeof queue.work>): RunQueueWorker {
      const taker = queue.work(...args);
      takers.push(taker);
      return taker;
    },
  };
  const worker = createWorker({ runtime: { ...runtime, queue: watched } });
  return {
    isDead: () => {
      if (isDead) for (const taker of takers.splice(0)) void taker.stop();
      return isDead;
    },
    isDoomed: () => isDead || doom !== undefined,
    killAtNextAppend(when) {
      doom = when;
    },
    close: () => (isDead ? Promise.resolve() : worker.close()),
  };
}

/** Numbers from 0 to 1, the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
