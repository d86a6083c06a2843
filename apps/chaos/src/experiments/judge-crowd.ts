/*
 * Owns: the judgement of all that people, watchers, the witness, the model and the logs of one world have seen.
 * Does not own: what was done to the nodes meanwhile (the experiments).
 */
import type { SessionStore } from "@loopwright/core/ports";
import { checkLog, type LogVerdict } from "../check/check-log.ts";
import { checkRecording, eventsOfLog } from "../check/check-recording.ts";
import type { Testimony } from "../world/testimony.ts";
import type { Watcher } from "../world/watcher.ts";
import type { World } from "../world/world.ts";
import type { Crowd, Place } from "./crowd.ts";
import type { Figure } from "./experiment.ts";

export interface Judgement {
  readonly flaws: readonly string[];
  readonly counts: Counts;
  /** Time from the last person's last word until everything rested. */
  readonly restedAfterMs: number;
}

export interface Counts extends Omit<LogVerdict, "flaws"> {
  readonly facts: number;
  readonly reconnects: number;
  /** Answers whose deltas added up to what was committed, and those of which a part was shown. */
  readonly wholeTexts: number;
  readonly partTexts: number;
}

const scope = "local";
/** I10: so long after the last fault everything rests. */
const restMs = 60_000;
/** So long after that everybody has seen it. */
const reachMs = 20_000;
/** Longer than a watcher stays away. */
const quietMs = 1_500;
const lookMs = 50;

/** People finish what they began; then everything is compared with everything. */
export async function judgeCrowd(world: World, { places }: Crowd): Promise<Judgement> {
  await Promise.all(places.map(({ person }) => person.fallSilent()));
  const stoppedAt = performance.now();
  const unrested = await unrestedOf(world, places);
  const restedAfterMs = performance.now() - stoppedAt;
  await Promise.all(places.map(({ person }) => person.leave()));
  await Promise.all(places.flatMap(({ watchers }) => watchers.map((watcher) => caughtUp(watcher))));
  const store = await world.openStore();
  try {
    const tails = await Promise.all(unrested.map((id) => tailOf(store, id)));
    const testimonies = await world.testimonies();
    const judged = await Promise.all(places.map((place) => judgePlace({ world, store, testimonies }, place)));
    const { refusals } = await world.model();
    const complaints = world.complaints.filter((complaint) => /UNHANDLED|UNCAUGHT|MaxListeners/.test(complaint));
    return {
      restedAfterMs,
      counts: judged.map(({ counts }) => counts).reduce(sum),
      flaws: [
        ...tails,
        ...refusals.map((refusal) => `I6: the model refused: ${refusal}`),
        ...complaints.map((complaint) => `I14: ${complaint.slice(0, 600)}`),
        ...judged.flatMap(({ flaws }) => flaws),
      ],
    };
  } finally {
    await store.close();
  }
}

function sum(a: Counts, b: Counts): Counts {
  const total = Object.entries(a).map(([name, value]) => [name, value + b[name as keyof Counts]]);
  return Object.fromEntries(total) as Counts;
}

interface Evidence {
  readonly world: World;
  readonly store: SessionStore;
  readonly testimonies: readonly Testimony[];
}

async function judgePlace(
  { world, store, testimonies }: Evidence,
  { id, person, watchers }: Place,
): Promise<{ readonly flaws: readonly string[]; readonly counts: Counts }> {
  const ref = { scope, session: id };
  const facts = await store.log.read(ref);
  const own = testimonies.filter(({ session }) => session === id);
  const { flaws, ...verdict } = checkLog({ session: id, facts, acknowledged: person.acknowledged, testimonies: own });
  const found = [...flaws, ...person.surprises];
  const log = await eventsOfLog(store, ref);
  for (const watcher of watchers) {
    await untilTold(watcher, { world, events: log.length });
    await watcher.stop();
    found.push(...checkRecording(watcher.recording, log));
  }
  const total = (count: (watcher: Watcher) => number): number => watchers.reduce((so, watcher) => so + count(watcher), 0);
  return {
    flaws: found.map((flaw) => `${id}: ${flaw}`),
    counts: {
      ...verdict,
      facts: facts.length,
      reconnects: total(({ connections }) => Math.max(0, connections - 1)),
      wholeTexts: total(({ recording }) => recording.wholeTexts),
      partTexts: total(({ recording }) => recording.partTexts),
    },
  };
}

/** I10: the sessions that do not rest in time, as the nodes tell it. */
async function unrestedOf(world: World, places: readonly Place[]): Promise<readonly string[]> {
  const until = performance.now() + restMs;
  let open = places.map(({ id }) => id);
  while (open.length > 0 && performance.now() < until) {
    const rests = await Promise.all(open.map((id) => rested(world, id)));
    open = open.filter((_, index) => !rests[index]);
    if (open.length > 0) await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return open;
}

async function rested(world: World, id: string): Promise<boolean> {
  try {
    const response = await fetch(`${world.pick(Math.random)}/api/sessions/${id}`, { signal: AbortSignal.timeout(5_000) });
    const { status } = (await response.json()) as { readonly status?: string };
    return status === "idle";
  } catch {
    return false;
  }
}

/** How the log of a session ends that should rest and does not. */
async function tailOf(store: SessionStore, id: string): Promise<string> {
  const ref = { scope, session: id };
  const facts = await store.log.read(ref);
  const { lease, epoch } = await store.log.head(ref);
  const tail = facts.slice(-6).map((fact) => `${fact.seq} ${fact.type}${"runId" in fact ? ` ${fact.runId.slice(-4)}` : ""}`);
  return `I10: session ${id} does not rest: ${tail.join(", ")}; epoch ${epoch}, ${lease ? `held by ${lease.node}` : "held by nobody"}`;
}

/** Resolves when a watcher has heard nothing new for a while. */
async function caughtUp({ recording }: Watcher): Promise<void> {
  const until = performance.now() + reachMs;
  for (let seen = -1; seen !== recording.durable.length && performance.now() < until; ) {
    seen = recording.durable.length;
    await new Promise((resolve) => setTimeout(resolve, quietMs));
  }
}

/** Resolves when a watcher has as many events as the log, when nobody is left to tell it of more, or when it has had its time. */
async function untilTold({ recording }: Watcher, { world, events }: { readonly world: World; readonly events: number }): Promise<void> {
  const until = performance.now() + reachMs;
  const canHear = (): boolean => world.nodes.some((node) => node?.isAlive) && performance.now() < until;
  while (recording.durable.length < events && canHear()) await new Promise((resolve) => setTimeout(resolve, lookMs));
}

/** What must hold whatever was done to the nodes. */
export function promiseFigures({ counts, restedAfterMs }: Judgement): readonly Figure[] {
  return [
    { name: "acknowledged inputs", value: counts.inputs, bound: { least: 1 } },
    { name: "acknowledged inputs lost", value: counts.lost, bound: { exactly: 0 } },
    { name: "inputs doubled", value: counts.doubled, bound: { exactly: 0 } },
    { name: "double starts of once tools", value: counts.doubleStarts, bound: { exactly: 0 } },
    { name: "calls in doubt", value: counts.inDoubt },
    { name: "calls in doubt that were reported", value: counts.inDoubtReported, bound: { exactly: counts.inDoubt } },
    { name: "reconnects of watchers", value: counts.reconnects },
    { name: "answers whose deltas added up", value: counts.wholeTexts },
    { name: "answers shown in part before they were committed", value: counts.partTexts },
    { name: "facts", value: counts.facts },
    { name: "until all rested", value: Math.round(restedAfterMs), unit: "ms" },
  ];
}
