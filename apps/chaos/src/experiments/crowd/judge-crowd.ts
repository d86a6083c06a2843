/*
 * Owns: the checks over everything that users, watchers, the witness, the model and the logs of one world have recorded.
 * Does not own: the faults that the nodes got meanwhile (the experiments).
 */

import { post } from "../../world/people/post.ts";
import type { Watcher } from "../../world/people/watcher.ts";
import type { World } from "../../world/world.ts";
import type { Figure } from "../experiment.ts";
import { awaitRest, notifyTail } from "./await-rest.ts";
import type { Crowd, Place } from "./crowd.ts";
import { type Counts, judgePlace } from "./judge-place.ts";
import { flawsOfForeigners, flawsOfLeftovers, lookThrough, shownByNodes } from "./look-around.ts";

export interface Judgement {
  readonly flaws: readonly string[];
  readonly counts: Counts;
  /** Time from the last message of a user until everything rested. */
  readonly restedAfterMs: number;
  /** The number of characters that were searched for secrets. */
  readonly lookedThrough: number;
}

export interface JudgeOptions {
  /** Sessions that the experiment opened beside those of the crowd. Default 0. */
  readonly otherSessions?: number;
}

/** How long after everything rests all watchers must have seen it. */
const reachMs = 20_000;
/** Longer than a watcher stays away. */
const quietMs = 1_500;

/** Waits until the users have finished; then compares all records with each other. */
export async function judgeCrowd(world: World, { places }: Crowd, { otherSessions = 0 }: JudgeOptions = {}): Promise<Judgement> {
  await Promise.all(places.map(({ person }) => person.fallSilent()));
  const stoppedAt = performance.now();
  const unrested = await awaitRest(world, places);
  const below = (await Promise.all(places.map((place) => childrenOf(world, place)))).flat();
  const restless = await awaitRest(world, below);
  const restedAfterMs = performance.now() - stoppedAt;
  await Promise.all(places.map(({ person }) => person.leave()));
  await Promise.all(places.flatMap(({ watchers }) => watchers.map((watcher) => caughtUp(watcher))));
  const foreign = await flawsOfForeigners(world, places);
  const shown = await Promise.all(places.map((place) => (unrested.includes(place) ? undefined : shownByNodes(world, place))));
  const store = await world.openStore();
  try {
    const tails = await Promise.all([...unrested, ...restless].map((place) => notifyTail(store, place)));
    const testimonies = await world.testimonies();
    const { refusals, requests } = await world.model();
    const judged = await Promise.all(
      places.map((place, index) => judgePlace({ world, store, testimonies, requests, shown: shown[index] }, place)),
    );
    const leftovers = await flawsOfLeftovers(world, places, otherSessions + below.length);
    await lookThrough(world);
    const complaints = world.complaints.filter((complaint) => /UNHANDLED|UNCAUGHT|MaxListeners/.test(complaint));
    return {
      restedAfterMs,
      lookedThrough: world.hunt.seen,
      counts: judged.map(({ counts }) => counts).reduce(sum),
      flaws: [
        ...tails,
        ...refusals.map((refusal) => `I6: the model refused: ${refusal}`),
        ...complaints.map((complaint) => `I14: ${complaint.slice(0, 600)}`),
        ...foreign,
        ...leftovers,
        ...judged.flatMap(({ flaws }) => flaws),
      ],
    };
  } finally {
    await store.close();
  }
}

/** The sessions that the runs of this one have started, and theirs, as nodes list them. */
async function childrenOf(world: World, { id, tenant }: Pick<Place, "id" | "tenant">): Promise<readonly Pick<Place, "id" | "tenant">[]> {
  const { headers } = tenant;
  const path = `/api/sessions?parent=${encodeURIComponent(id)}`;
  const answer = await post({ pick: () => world.pick(Math.random), path, body: {}, key: "", headers, method: "GET" });
  const { sessions = [] } = (answer?.body ?? {}) as { readonly sessions?: readonly { readonly id: string }[] };
  const found = sessions.map((child) => ({ id: child.id, tenant }));
  return [...found, ...(await Promise.all(found.map((child) => childrenOf(world, child)))).flat()];
}

function sum(a: Counts, b: Counts): Counts {
  const total = Object.entries(a).map(([name, value]) => [name, value + b[name as keyof Counts]]);
  return Object.fromEntries(total) as Counts;
}

/** Resolves when a watcher has received nothing new for a while. */
async function caughtUp({ recording }: Watcher): Promise<void> {
  const until = performance.now() + reachMs;
  for (let seen = -1; seen !== recording.durable.length && performance.now() < until; ) {
    seen = recording.durable.length;
    await new Promise((resolve) => setTimeout(resolve, quietMs));
  }
}

/** The checks that must pass after any fault. */
export function promiseFigures({ counts, restedAfterMs, lookedThrough }: Judgement): readonly Figure[] {
  return [
    { name: "acknowledged inputs", value: counts.inputs, bound: { least: 1 } },
    { name: "acknowledged inputs lost", value: counts.lost, bound: { exactly: 0 } },
    { name: "inputs doubled", value: counts.doubled, bound: { exactly: 0 } },
    { name: "acknowledged aborts", value: counts.aborts },
    { name: "acknowledged decisions on calls", value: counts.decisions },
    { name: "runs that failed since the model repeated its key", value: counts.refused },
    { name: "double starts of once tools", value: counts.doubleStarts, bound: { exactly: 0 } },
    { name: "calls in doubt", value: counts.inDoubt },
    { name: "calls in doubt that were reported", value: counts.inDoubtReported, bound: { exactly: counts.inDoubt } },
    { name: "reconnects of watchers", value: counts.reconnects },
    { name: "answers whose deltas added up", value: counts.wholeTexts },
    { name: "answers that a snapshot completed", value: counts.healedTexts },
    { name: "facts", value: counts.facts },
    { name: "characters looked through for secrets", value: lookedThrough, bound: { least: 1 } },
    { name: "until all rested", value: Math.round(restedAfterMs), unit: "ms" },
  ];
}
