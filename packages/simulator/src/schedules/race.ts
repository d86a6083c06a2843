/*
 * Owns: one race for one session between four hosts: two owners, one that aborts and one that submits an input. Their requests to the store are
 * let through one at a time in the order of a schedule.
 * Does not own: the list of schedules (run-schedules).
 */
import { type AgentSession, createAgent, createSession, type Fact, type SessionEvent } from "@loopwright/core";
import { memoryQueue, memoryStore, scripted, seededIds, silentLogger } from "@loopwright/core/memory";
import type { SessionLog, SessionStore } from "@loopwright/core/ports";
import { createHost, createRuntime, type Host } from "@loopwright/host";
import { checkFences, checkLog } from "../check/check-log.ts";
import { claimsInto, type Finding } from "../check/finding.ts";
import { readLog } from "../check/log-model.ts";
import type { NodeRole } from "../world/simulated-host.ts";
import { createVirtualTime, type VirtualTime } from "../world/virtual-time.ts";

/** The hosts of a race. */
export type Racer = "ownerA" | "ownerB" | "aborter" | "speaker";

/** How many requests of each host are ordered by the schedule; later ones pass at once. */
export type RaceLimits = { readonly [who in Racer]: number };

export interface RaceOptions {
  readonly limits: RaceLimits;
  /** Puts a flaw into the log, for tests of the checker. */
  readonly spoil?: (log: SessionLog) => SessionLog;
}

export interface RaceResult {
  /** For each choice: the index of the host that was let through, and the number of hosts that waited. */
  readonly choices: readonly { readonly taken: number; readonly among: number; readonly who: Racer }[];
  readonly findings: readonly Finding[];
}

interface Waiting {
  readonly who: Racer;
  readonly run: () => void;
}

interface Gate {
  readonly waiting: Waiting[];
  readonly counts: { [who in Racer]: number };
  /** True: reads pass at once. */
  isReading: boolean;
}

const ref = { scope: "local", session: "race" };
const racers: readonly Racer[] = ["ownerA", "ownerB", "aborter", "speaker"];
/** The owners are woken by their subscriptions and by hints; a sweep would come too late for the race. */
const hosting = { sweepMs: 600_000, sessionIdleMs: 600_000 } as const;

/** Chooses which waiting request is let through: an index below the count. */
export type Choose = (choice: number, among: number) => number;

/** Runs the race with these choices. */
export async function runRace(choose: Choose, { limits, spoil = (log) => log }: RaceOptions): Promise<RaceResult> {
  const time = createVirtualTime({ realWaitMs: 1_000 });
  const clock = { now: () => 1_767_225_600_000 + time.nowMs, monotonic: () => time.nowMs, ...timers(time) };
  const sound = memoryStore({ clock });
  const store: SessionStore = { ...sound, log: spoil(sound.log) };
  const claims: { readonly epoch: number; readonly lastSeq: number }[] = [];
  const gate: Gate = { waiting: [], counts: { ownerA: 0, ownerB: 0, aborter: 0, speaker: 0 }, isReading: false };
  let asked = 0;
  const agent = createAgent({ name: "racer", provider: scripted(() => ({ text: `Answer ${++asked}.` })) });
  const ids = seededIds(1);
  const queue = memoryQueue();
  const hostOf = (who: Racer, role: NodeRole): Host => {
    const own = gatedStore(store, { who, gate, limits, claims });
    const runtime = createRuntime({ agents: [agent], store: own, queue, clock, ids, leaseMs: 5_000, logger: silentLogger });
    return createHost({ runtime, role, node: who, limits: hosting });
  };
  const hosts: { readonly [who in Racer]: Host } = {
    ownerA: hostOf("ownerA", "all"),
    ownerB: hostOf("ownerB", "worker"),
    aborter: hostOf("aborter", "server"),
    speaker: hostOf("speaker", "server"),
  };
  // Their first sweeps find nothing yet.
  await time.pass({ untilMs: time.nowMs });
  const before = createSession({ agent, id: ref.session, store, clock, ids, node: "before", drives: false });
  await before.submit("What is there to begin with?", { idempotencyKey: "first" });
  // Every host has read the beginning; the race concerns what follows.
  gate.isReading = true;
  const lent = {} as { [who in Racer]: AgentSession };
  for (const who of racers) lent[who] = (await hosts[who].sessions.open(ref)).session;
  gate.isReading = false;
  const notified = { ownerA: [] as SessionEvent[], ownerB: [] as SessionEvent[] };
  for (const who of ["ownerA", "ownerB"] as const) lent[who].follow({ events: (events) => void notified[who].push(...events) });
  const acknowledged: string[] = [];
  lent.aborter.abort("raced").then(
    () => acknowledged.push("abort"),
    () => {},
  );
  lent.speaker.submit("And then?", { idempotencyKey: "second", mode: "steer" }).then(
    () => acknowledged.push("second"),
    () => {},
  );
  const choices = await letThrough({ time, gate, choose, limits });
  const facts = await store.log.read(ref);
  return { choices, findings: judge({ facts, notified, acknowledged, claims }) };
}

/** Lets one request through after the other until no request waits and the session rests. */
async function letThrough({
  time,
  gate,
  choose,
  limits,
}: {
  readonly time: VirtualTime;
  readonly gate: Gate;
  readonly choose: Choose;
  readonly limits: RaceLimits;
}): Promise<RaceResult["choices"]> {
  const choices: { taken: number; among: number; who: Racer }[] = [];
  let ungoverned = 0;
  for (;;) {
    await time.pass({ untilMs: time.nowMs });
    if (gate.waiting.length === 0) {
      if (ungoverned > 60) return choices;
      ungoverned += 1;
      await time.pass({ untilMs: time.nowMs + 500, isDone: () => gate.waiting.length > 0 });
      continue;
    }
    const firsts = firstOfEach(gate);
    const free = firsts.find(({ who }) => gate.counts[who] >= limits[who]);
    const among = free ? 1 : firsts.length;
    const taken = among > 1 ? choose(choices.length, among) : 0;
    const next = free ?? firsts[taken];
    if (!next) return choices;
    if (among > 1) choices.push({ taken, among, who: next.who });
    if (free && ++ungoverned > 2_000) return choices;
    gate.waiting.splice(gate.waiting.indexOf(next), 1);
    gate.counts[next.who] += 1;
    next.run();
  }
}

function firstOfEach({ waiting }: Gate): readonly Waiting[] {
  const seen = new Set<Racer>();
  const firsts: Waiting[] = [];
  for (const one of waiting) {
    if (seen.has(one.who)) continue;
    seen.add(one.who);
    firsts.push(one);
  }
  return firsts.sort((a, b) => (a.who < b.who ? -1 : 1));
}

function timers(time: VirtualTime): { after(ms: number, run: () => void): () => void; soon(run: () => void): void } {
  return { after: (ms, run) => time.schedule(ms, run), soon: (run) => void time.schedule(0, run) };
}

/** While the schedule orders a host's requests its claims succeed at once, as if every lease had expired. */
function gatedStore(
  store: SessionStore,
  {
    who,
    gate,
    limits,
    claims,
  }: {
    readonly who: Racer;
    readonly gate: Gate;
    readonly limits: RaceLimits;
    readonly claims: { readonly epoch: number; readonly lastSeq: number }[];
  },
): SessionStore {
  const { log } = store;
  const ask = <T>(act: () => Promise<T>, isRead = false): Promise<T> =>
    isRead && gate.isReading
      ? act()
      : new Promise((resolve, reject) => void gate.waiting.push({ who, run: () => void act().then(resolve, reject) }));
  const claim: SessionLog["claim"] = async (session, options) => {
    const { epoch, lease } = await log.head(session);
    if (lease && lease.node !== who && gate.counts[who] <= limits[who]) await log.release(session, epoch);
    const outcome = await log.claim(session, options);
    if (outcome.type === "claimed") claims.push(outcome);
    return outcome;
  };
  return {
    ...store,
    log: {
      append: (session, request) => ask(() => log.append(session, request)),
      read: (session, options) => ask(() => log.read(session, options), true),
      head: (session) => ask(() => log.head(session), true),
      claim: (session, options) => ask(() => claim(session, options)),
      renew: (session, lease) => ask(() => log.renew(session, lease)),
      release: (session, epoch) => ask(() => log.release(session, epoch)),
      due: (options) => log.due(options),
      setDue: (session, options) => log.setDue(session, options),
      remove: (session) => log.remove(session),
      ...(log.subscribe ? { subscribe: log.subscribe } : {}),
    },
  };
}

interface Outcome {
  readonly claims: readonly { readonly epoch: number; readonly lastSeq: number }[];
  readonly facts: readonly Fact[];
  readonly notified: { readonly [who: string]: readonly SessionEvent[] };
  readonly acknowledged: readonly string[];
}

/** I1, I2, I4, I8, I9, and that every subscriber received the same events in the same order. */
function judge({ facts, notified, acknowledged, claims }: Outcome): readonly Finding[] {
  const findings: Finding[] = [];
  const claim = claimsInto(findings, ref.session);
  const model = readLog(facts);
  checkLog(facts, model, { claim, isOver: true });
  checkFences(facts, claims, claim);
  claim(model.owed === undefined, "S5", () => `the race does not end: ${model.owed}`);
  if (acknowledged.includes("second")) {
    const isThere = model.inputs.some(({ idempotencyKey }) => idempotencyKey === "second");
    claim(isThere, "I1", () => "the second message was acknowledged and is not in the log");
  }
  claim(acknowledged.includes("second"), "S5", () => "the second message was never acknowledged");
  for (const [who, events] of Object.entries(notified)) {
    let last = { seq: 0, k: -1 };
    for (const event of events) {
      if (!("seq" in event)) continue;
      const isLater = event.seq > last.seq || (event.seq === last.seq && event.k === last.k + 1);
      claim(isLater, "I3", () => `${who} was notified ${event.seq}.${event.k} after ${last.seq}.${last.k}`);
      last = event;
    }
  }
  return findings;
}
