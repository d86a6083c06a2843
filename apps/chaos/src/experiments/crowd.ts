/*
 * Owns: people and watchers on the sessions of a world, and the judgement of all that they and the others saw.
 * Does not own: what is done to the nodes meanwhile (the experiments).
 */
import type { SessionStore } from "@loopwright/core/ports";
import { checkLog, type LogVerdict } from "../check/check-log.ts";
import { checkRecording, eventsOfLog, isAtRest } from "../check/check-recording.ts";
import { openStore } from "../world/open-store.ts";
import { type Person, type PersonOptions, startPerson } from "../world/person.ts";
import { post } from "../world/post.ts";
import { startWatcher, type Watcher, type WatcherTaste } from "../world/watcher.ts";
import type { World } from "../world/world.ts";

export interface CrowdOptions {
  readonly world: World;
  readonly sessions: number;
  readonly random: () => number;
  readonly taste: PersonOptions["taste"];
  /** One watcher per entry and session; the first one is the person's own. */
  readonly watchers: readonly WatcherTaste[];
}

export interface Crowd {
  /** Times that watchers came back, so far. */
  readonly reconnects: number;
  /** People finish what they began; resolves when every session rests, or rejects after `restMs`. */
  judge(options?: { readonly restMs?: number }): Promise<Judgement>;
}

export interface Judgement extends Omit<LogVerdict, "flaws"> {
  readonly flaws: readonly string[];
  readonly facts: number;
  readonly reconnects: number;
  readonly wholeTexts: number;
  readonly partTexts: number;
  /** Time from the last person's last word until everything rested. */
  readonly restedAfterMs: number;
}

const scope = "local";
const restDefault = 60_000;

interface Place {
  readonly id: string;
  readonly watchers: readonly Watcher[];
  readonly person: Person;
}

export async function gatherCrowd({ world, sessions, random, taste, watchers: tastes }: CrowdOptions): Promise<Crowd> {
  const pick = (): string => world.pick(random);
  const places = await Promise.all(
    Array.from({ length: sessions }, async (_, index): Promise<Place> => {
      const id = `s${index}`;
      await post({ pick, path: "/api/sessions", body: { id }, key: `open-${id}` });
      const watchers = tastes.map((one) => startWatcher({ sessionId: id, pick, random, taste: one }));
      return { id, watchers, person: startPerson({ sessionId: id, pick, random, watcher: watchers[0] as Watcher, taste }) };
    }),
  );

  const judge = async ({ restMs = restDefault }: { readonly restMs?: number } = {}): Promise<Judgement> => {
    await Promise.all(places.map(({ person }) => person.fallSilent()));
    const stoppedAt = performance.now();
    const store = await openStore(world.store);
    try {
      const unrested = await untilRest(
        store,
        places.map(({ id }) => id),
        restMs,
      );
      const restedAfterMs = performance.now() - stoppedAt;
      await Promise.all(places.map(({ person }) => person.leave()));
      const testimonies = await world.testimonies();
      const { refusals } = await world.model();
      const flaws = [
        ...unrested.map(({ id, tail }) => `I10: session ${id} does not rest: ${tail}`),
        ...refusals.map((refusal) => `I6: the model refused: ${refusal}`),
      ];
      const total = {
        inputs: 0,
        lost: 0,
        doubled: 0,
        doubleStarts: 0,
        inDoubt: 0,
        inDoubtReported: 0,
        facts: 0,
        reconnects: 0,
        wholeTexts: 0,
        partTexts: 0,
      };
      for (const { id, person, watchers } of places) {
        const ref = { scope, session: id };
        const facts = await store.log.read(ref);
        const own = testimonies.filter(({ session }) => session === id);
        const { flaws: found, ...counts } = checkLog({ session: id, facts, acknowledged: person.acknowledged, testimonies: own });
        flaws.push(...[...found, ...person.surprises].map((flaw) => `${id}: ${flaw}`));
        const log = await eventsOfLog(store, ref);
        for (const watcher of watchers) {
          await reached(watcher, log.at(-1)?.seq ?? 0);
          await watcher.stop();
          flaws.push(...checkRecording(watcher.recording, log).map((flaw) => `${id}: ${flaw}`));
          total.reconnects += watcher.connections - 1;
          total.wholeTexts += watcher.recording.wholeTexts;
          total.partTexts += watcher.recording.partTexts;
        }
        total.facts += facts.length;
        for (const [name, value] of Object.entries(counts)) total[name as keyof typeof counts] += value;
      }
      for (const complaint of world.complaints)
        if (/UNHANDLED|UNCAUGHT|MaxListeners/.test(complaint)) flaws.push(`I14: ${complaint.slice(0, 600)}`);
      return { ...total, flaws, restedAfterMs };
    } finally {
      await store.close();
    }
  };
  return {
    judge,
    get reconnects() {
      return places.flatMap(({ watchers }) => watchers).reduce((sum, { connections }) => sum + Math.max(0, connections - 1), 0);
    },
  };
}

/** The sessions that do not rest in time, and how their logs end. */
async function untilRest(
  store: SessionStore,
  ids: readonly string[],
  restMs: number,
): Promise<readonly { readonly id: string; readonly tail: string }[]> {
  const until = performance.now() + restMs;
  let open = ids;
  while (open.length > 0 && performance.now() < until) {
    const rests = await Promise.all(open.map(async (session) => isAtRest(await store.log.read({ scope, session }))));
    open = open.filter((_, index) => !rests[index]);
    if (open.length > 0) await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return Promise.all(
    open.map(async (id) => {
      const ref = { scope, session: id };
      const facts = await store.log.read(ref);
      const { lease, epoch } = await store.log.head(ref);
      const tail = facts.slice(-6).map((fact) => `${fact.seq} ${fact.type}${"runId" in fact ? ` ${fact.runId.slice(-4)}` : ""}`);
      return { id, tail: `${tail.join(", ")}; epoch ${epoch}, ${lease ? `held by ${lease.node}` : "held by nobody"}` };
    }),
  );
}

const reachMs = 20_000;

const reached = (watcher: Watcher, seq: number): Promise<unknown> =>
  Promise.race([watcher.reached(seq), new Promise((resolve) => setTimeout(resolve, reachMs).unref())]);
