import { createAgent, createSession, type Fact, type Observer } from "@loopwright/core";
import { type ManualClock, manualClock, memoryStore, scripted, silentLogger } from "@loopwright/core/memory";
import type { Clock, SessionStore } from "@loopwright/core/ports";
import { createHost, createRuntime, type Host } from "@loopwright/host";
import { expect, it } from "vitest";
import { runClock, until } from "./turn-of-loop.ts";

const firstSeed = Number(process.env["LOOPWRIGHT_SEED"] ?? 1);
const seedCount = Number(process.env["LOOPWRIGHT_RETENTION_KILLS"] ?? 8);
const dayMs = 86_400_000;
const keepMs = 10 * dayMs;
const scope = "garden";
const agent = createAgent({ name: "helper", provider: scripted([]) });

type Dice = (below: number) => number;

function diceOf(seed: number): Dice {
  let state = Math.imul(seed, 0x9e3779b1) | 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

const isEnd = (fact: Fact | undefined): boolean => fact?.type === "session.closed" && fact.erase === true;
const isHeldBy = (facts: readonly Fact[]): boolean => {
  const last = facts.findLast((fact) => fact.type === "hold.changed");
  return last?.type === "hold.changed" && last.held;
};

/** What must never be, and what has happened, as the store itself and all observers see it. */
function witness(truth: SessionStore) {
  const wrong: string[] = [];
  const removals: string[] = [];
  const ends = new Set<string>();
  const observer: Observer = {
    facts: ({ session }, facts, snapshot) => {
      if (!facts.some(isEnd)) return;
      ends.add(session);
      if (snapshot().sessionId !== session || snapshot().status !== "closed") wrong.push(`the snapshot of ${session} is of another state`);
    },
  };
  async function removes(session: string): Promise<void> {
    const facts = await truth.log.read({ scope, session });
    const [end, before] = [facts.at(-1), facts.at(-2)];
    if (end === undefined || before === undefined) return;
    removals.push(session);
    if (!isEnd(end)) wrong.push(`${session} is removed and not closed`);
    if (isHeldBy(facts)) wrong.push(`${session} is removed under a hold`);
    if (!ends.has(session)) wrong.push(`${session} is removed, and no observer has its end`);
    const [opened] = facts;
    const isTop = opened?.type === "session.opened" && opened.parent === undefined;
    if (isTop && end.at - before.at < keepMs) wrong.push(`${session} is removed ${keepMs - (end.at - before.at)} ms early`);
    if (isTop && (await truth.index.list(scope, { parent: session })).length > 0) wrong.push(`${session} is removed before those below it`);
  }
  return { wrong, removals, ends, observer, removes };
}

/** The store as a process sees it that dies at one of its requests: none after it has an effect, and the process gets no answer any more. */
function mortal(
  store: SessionStore,
  fuse: { readonly at: number; readonly isBefore: boolean; readonly onDeath: () => void },
): SessionStore {
  let asked = 0;
  const never = new Promise<never>(() => {});
  const port = <T extends object>(of: T): T =>
    new Proxy(of, {
      get(target, name) {
        const method = Reflect.get(target, name) as unknown;
        if (typeof method !== "function" || name === "subscribe") return method;
        return async (...args: readonly unknown[]) => {
          const place = ++asked;
          if (place > fuse.at) return never;
          if (place < fuse.at) return method.apply(target, [...args]) as unknown;
          if (!fuse.isBefore) await method.apply(target, [...args]);
          fuse.onDeath();
          return never;
        };
      },
    });
  return { ...store, log: port(store.log), index: port(store.index) };
}

/** The clock as a process sees it: nothing is called any more once the process has died. */
function clockOf(clock: ManualClock, isAlive: () => boolean): Clock {
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after: (ms, run, options) => clock.after(ms, () => isAlive() && run(), options),
    soon: (run) => clock.soon(() => isAlive() && run()),
  };
}

interface World {
  readonly clock: ManualClock;
  readonly truth: SessionStore;
  readonly seen: ReturnType<typeof witness>;
  readonly ids: readonly string[];
}

/** Trees of up to three sessions of any age, some under a legal hold, and one of a scope without a rule. */
async function openWorld(dice: Dice): Promise<World> {
  const truth = memoryStore();
  const clock = manualClock(1_700_000_000_000);
  const ids: string[] = [];
  const open = async (session: string, parent: string | undefined, place = scope): Promise<void> => {
    const link = parent === undefined ? {} : { parent: { session: parent, runId: "r", depth: 1 } };
    const fact = { type: "session.opened", agent: "helper", ...link, at: clock.now(), v: 2 } as const;
    await truth.log.append({ scope: place, session }, { expectedSeq: 0, batchId: "open", facts: [fact] });
    if (place === scope) ids.push(session);
  };
  await open("other", undefined, "kitchen");
  for (let tree = 0; tree < 8; tree++) {
    await open(`t${tree}`, undefined);
    const below = dice(3);
    for (let child = 1; child <= below; child++) await open(`t${tree}-${child}`, child === 2 && dice(2) === 0 ? `t${tree}-1` : `t${tree}`);
    clock.advance(dice(4) * dayMs);
  }
  return { clock, truth, seen: witness(truth), ids };
}

/** What people do while the sweeps run. */
async function act({ clock, truth, ids }: World, dice: Dice): Promise<void> {
  const id = ids[dice(ids.length)] ?? "t0";
  const handle = createSession({ agent, id, store: truth, clock, drives: false, access: { user: "olga", scope } });
  const acts = [() => handle.hold({ reason: "case 7" }), () => handle.releaseHold(), () => handle.change({ title: "in use" })];
  if ((await truth.log.head({ scope, session: id })).lastSeq > 0) await acts[dice(acts.length)]?.().catch(() => undefined);
}

it.each(Array.from({ length: seedCount }, (_, at) => firstSeed + at))(
  "the retention of a scope respects holds, removes nothing early and all once, and observers get each end, whatever request kills a process (seed %d)",
  async (seed) => {
    const dice = diceOf(seed);
    const world = await openWorld(dice);
    const { clock, truth, seen } = world;
    // One removal after the other, so that of two processes that remove one log one finds nothing.
    let removing = Promise.resolve();
    const remove: SessionStore["log"]["remove"] = (ref) => {
      removing = removing.then(() => seen.removes(ref.session)).then(() => truth.log.remove(ref));
      return removing;
    };
    const watched: SessionStore = { ...truth, log: { ...truth.log, remove } };
    const [killsMax, alive] = [10, new Set<Host>()];
    let kills = 0;
    const start = (isMortal: boolean): void => {
      const onDeath = (): void => {
        kills += 1;
        alive.delete(host);
        start(kills < killsMax);
      };
      const store = isMortal ? mortal(watched, { at: 1 + dice(60), isBefore: dice(2) === 0, onDeath }) : watched;
      const runtime = createRuntime({
        agents: [agent],
        store,
        clock: clockOf(clock, () => alive.has(host)),
        logger: silentLogger,
        observers: [seen.observer],
      });
      const host: Host = createHost({ runtime, isOneOfMany: true, retention: () => [{ scope, keepMs }] });
      alive.add(host);
    };
    for (let process = 0; process < 2; process++) start(true);
    const stop = runClock(clock, 10_000);
    let turn = 0;
    await until(async () => {
      if (++turn % 100 === 0) await act(world, dice);
      // So much time passes in all that every session without a hold is old enough.
      if (turn % 200 === 0) clock.advance(dayMs);
      return turn > 2_000 && kills >= killsMax;
    }, "all processes that were to die have died");
    // From here on no person acts, and what is not held is erased.
    const left = async (): Promise<readonly string[]> => {
      const there = await Promise.all(
        world.ids.map(async (session) => ((await truth.log.head({ scope, session })).lastSeq > 0 ? [session] : [])),
      );
      return there.flat();
    };
    clock.advance(2 * keepMs);
    const treeOf = (id: string): string => id.split("-")[0] ?? "";
    const held = new Set<string>();
    for (const session of await left()) if (isHeldBy(await truth.log.read({ scope, session }))) held.add(treeOf(session));
    await until(async () => (await left()).every((id) => held.has(treeOf(id))), `all but ${[...held].join(", ")} are erased`);
    stop();
    expect(seen.wrong).toEqual([]);
    expect(seen.removals.toSorted()).toEqual([...new Set(seen.removals)].toSorted());
    expect(seen.removals.length).toBeGreaterThan(0);
    expect((await truth.log.head({ scope: "kitchen", session: "other" })).lastSeq).toBe(1);
    await Promise.all([...alive].map((host) => host.close()));
  },
);
