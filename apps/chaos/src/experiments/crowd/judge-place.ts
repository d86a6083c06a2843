/* Owns: the judgement of one session: its log, what its watchers saw of it, what was acknowledged, and how nodes show it. */
import { type Fact, foldSession } from "@loopwright/core";
import type { SessionRef, SessionStore } from "@loopwright/core/ports";
import { checkChildren, checkFamily, childrenOf } from "../../check/check-children.ts";
import { checkCommands } from "../../check/check-commands.ts";
import { checkLog, type LogVerdict } from "../../check/check-log.ts";
import { checkModelCalls } from "../../check/check-model-calls.ts";
import { checkRecording, eventsOfLog } from "../../check/check-recording.ts";
import { checkSchedules } from "../../check/check-schedules.ts";
import { checkSnapshots } from "../../check/check-snapshots.ts";
import { checkTenantWords } from "../../check/check-tenants.ts";
import { checkTree, type Tree, type TreeVerdict } from "../../check/check-tree.ts";
import type { Watcher } from "../../world/people/watcher.ts";
import { tenantWords } from "../../world/tenants.ts";
import type { Testimony } from "../../world/testimony.ts";
import type { World } from "../../world/world.ts";
import type { Place } from "./crowd.ts";

export interface Counts extends Omit<LogVerdict, "flaws">, Omit<TreeVerdict, "flaws"> {
  readonly facts: number;
  readonly reconnects: number;
  /** Answers whose deltas added up to what was committed, and those that a snapshot completed. */
  readonly wholeTexts: number;
  readonly healedTexts: number;
  readonly aborts: number;
  readonly decisions: number;
  /** Runs that failed: the model refused them, and repeated its key. */
  readonly refused: number;
}

export interface PlaceEvidence {
  readonly world: World;
  readonly store: SessionStore;
  readonly testimonies: readonly Testimony[];
  /** Requests that the model had, by job. */
  readonly requests: { readonly [job: string]: number };
  /** The session as nodes show it, by node; absent where it does not rest. */
  readonly shown?: { readonly [node: string]: unknown } | undefined;
}

/** So long after everything rests everybody has seen it. */
const reachMs = 20_000;
const lookMs = 50;

/** Compares everything with everything, and lets go of the watchers. */
export async function judgePlace(
  { world, store, testimonies, requests, shown }: PlaceEvidence,
  { id, tenant: { scope }, person, watchers }: Place,
): Promise<{ readonly flaws: readonly string[]; readonly counts: Counts }> {
  const ref = { scope, session: id };
  const facts = await store.log.read(ref);
  const { acknowledged } = person;
  const evidence = { session: id, facts, acknowledged, testimonies: testimonies.filter(({ session }) => session === id) };
  const { flaws, ...verdict } = checkLog(evidence);
  const found = [...flaws, ...person.surprises, ...checkCommands(evidence), ...checkModelCalls(facts, requests)];
  found.push(...checkChildren(facts), ...checkSchedules(facts));
  const tree = await treeOf(store, { scope, session: id }, facts);
  const { flaws: flawsOfTree, ...treeCounts } = checkTree(tree);
  const below = tree.below.map((child) => judgeChild(child, { testimonies, requests }, tree));
  found.push(...flawsOfTree, ...below.flatMap((child) => child.flaws));
  const inTree = summed(verdict, below);
  const written = JSON.stringify(facts);
  const logged = new Set(Object.values(tenantWords).filter((word) => written.includes(word)));
  const hasSpoken = acknowledged.some(({ what }) => what === "input");
  found.push(...checkTenantWords({ scope, words: tenantWords, received: logged, hasSpoken }));
  if (shown) {
    const fold = foldSession(ref, store.blobs);
    await fold.add(facts);
    found.push(...checkSnapshots({ facts, folded: fold.snapshot(), shown }));
  }
  const log = await eventsOfLog(store, ref);
  for (const watcher of watchers) {
    await untilNotified(watcher, { world, events: log.length });
    await watcher.stop();
    found.push(...checkRecording(watcher.recording, log));
    found.push(...checkTenantWords({ scope, words: tenantWords, received: watcher.received, hasSpoken }));
  }
  const total = (count: (watcher: Watcher) => number): number => watchers.reduce((so, watcher) => so + count(watcher), 0);
  const acks = (wanted: string): number => acknowledged.filter(({ what }) => what === wanted).length;
  return {
    flaws: found.map((flaw) => `${id}: ${flaw}`),
    counts: {
      ...inTree,
      ...treeCounts,
      facts: facts.length,
      reconnects: total(({ connections }) => Math.max(0, connections - 1)),
      wholeTexts: total(({ recording }) => recording.wholeTexts),
      healedTexts: total(({ recording }) => recording.healedTexts),
      aborts: acks("abort"),
      decisions: acks("decision"),
      refused: facts.filter((fact) => fact.type === "run.finished" && fact.status === "failed").length,
    },
  };
}

/** A session and all below it, by their logs. */
async function treeOf(store: SessionStore, ref: SessionRef, facts: readonly Fact[]): Promise<Tree> {
  const below = await Promise.all(
    childrenOf(facts).map(async (session) => {
      const own = await store.log.read({ ...ref, session });
      return own.length === 0 ? [] : [await treeOf(store, { ...ref, session }, own)];
    }),
  );
  return { session: ref.session, facts, below: below.flat() };
}

/** What is wrong with a child and with those below it: of their logs alone, which no person and no watcher follows. */
function judgeChild({ session, facts, below }: Tree, seen: Pick<PlaceEvidence, "testimonies" | "requests">, parent: Tree): LogVerdict {
  const testimonies = seen.testimonies.filter((one) => one.session === session);
  const evidence = { session, facts, acknowledged: [], testimonies };
  const { flaws, ...own } = checkLog(evidence);
  const family = checkFamily({ parent: parent.session, facts: parent.facts, child: session, childFacts: facts });
  const found = [...flaws, ...family, ...checkChildren(facts), ...checkCommands(evidence), ...checkModelCalls(facts, seen.requests)];
  const deeper = below.map((child) => judgeChild(child, seen, { session, facts, below }));
  return { ...summed(own, deeper), flaws: [...found.map((flaw) => `${session}: ${flaw}`), ...deeper.flatMap((child) => child.flaws)] };
}

/** The counts of a log with those of the logs below it. */
function summed(own: Omit<LogVerdict, "flaws">, below: readonly LogVerdict[]): Omit<LogVerdict, "flaws"> {
  const total = (of: "doubleStarts" | "inDoubt" | "inDoubtReported"): number => below.reduce((sum, one) => sum + one[of], own[of]);
  return { ...own, doubleStarts: total("doubleStarts"), inDoubt: total("inDoubt"), inDoubtReported: total("inDoubtReported") };
}

/** Resolves when a watcher has as many events as the log, when no node is left to send more, or when its time is up. */
async function untilNotified({ recording }: Watcher, { world, events }: { readonly world: World; readonly events: number }): Promise<void> {
  const until = performance.now() + reachMs;
  const canReceive = (): boolean => world.nodes.some((node) => node?.isAlive) && performance.now() < until;
  while (recording.durable.length < events && canReceive()) await new Promise((resolve) => setTimeout(resolve, lookMs));
}
