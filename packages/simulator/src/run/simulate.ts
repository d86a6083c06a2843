/*
 * Owns: one simulation from its seed to its report: a storm, then calm until no work is left, then the check.
 */
import { type DurableEvent, type Fact, readHistory } from "@loopwright/core";
import { sessionsBelow } from "@loopwright/core/stores";
import { digestInOrder } from "@loopwright/replay";
import { isFiring, owedFiring, standingSchedules } from "../check/check-schedules.ts";
import { checkWorld } from "../check/check-world.ts";
import type { Finding } from "../check/finding.ts";
import { readLog } from "../check/log-model.ts";
import { beginBefore } from "../people/begin-before.ts";
import { sampleAgent, sampleModel } from "../people/sample-agent.ts";
import { SimulatedClient } from "../people/simulated-client.ts";
import { createDice } from "../world/dice.ts";
import { type ExpandedOptions, expandOptions, type SimulateOptions } from "../world/expand-options.ts";
import { factsOf } from "../world/simulated-store.ts";
import { createWorld, type Sabotage, type World } from "../world/simulated-world.ts";
import { createTrace } from "../world/trace.ts";
import { untilNothingIsIdle } from "../world/until-nothing-is-idle.ts";
import { createVirtualTime } from "../world/virtual-time.ts";
import { endStorm, planStorm, type Storm } from "./storm.ts";

/** The report of one simulation. */
export interface SimulationReport {
  readonly seed: number;
  /** Empty when every promise was kept. */
  readonly findings: readonly Finding[];
  /** The decisions of the seed. */
  readonly options: ExpandedOptions;
  /** Equal for equal histories. */
  readonly traceHash: string;
  /** Empty unless `trace` was asked for. */
  readonly trace: readonly string[];
  readonly figures: {
    /** Inputs that schedules gave. */
    readonly firings: number;
    readonly sessions: number;
    readonly facts: number;
    readonly runs: number;
    /** Requests of processes to the world. */
    readonly requests: number;
    readonly events: number;
    readonly crashes: number;
    /** Processes that handed over to the end, and sessions that were evicted as idle. */
    readonly handOvers: number;
    readonly evictions: number;
    readonly toolStarts: number;
    readonly modelCalls: number;
    readonly virtualMs: number;
    /** How often a tool or hook took more real time than the simulation waits: then the history does not depend on the seed alone. */
    readonly lateWork: number;
  };
  /** One line of code that does it again. */
  readonly replay: string;
}

/** Further options of a simulation, for tests of the checker and of replays. */
export interface SimulationExtras {
  readonly sabotage?: Sabotage;
  /** Called at the end with the whole log of each session, also of those that agents have started. */
  readonly onLog?: (session: string, facts: readonly Fact[]) => void;
}

/** How often the world is checked for rest. */
const lookMs = 500;
/** How long clients stay connected after they have received every event, and how long they wait for that. */
const receiveMs = 1_000;
const receiveMaxMs = 15_000;
/** The longest a simulation may last after its storm. */
const calmMaxMs = 30 * 60_000;

/** Simulates the whole runtime with this seed and checks every promise. Never rejects because of a broken promise: read `findings`. */
export async function simulate(options: SimulateOptions): Promise<SimulationReport> {
  return simulateWith(options, {});
}

export async function simulateWith(options: SimulateOptions, { sabotage, onLog }: SimulationExtras): Promise<SimulationReport> {
  const expanded = expandOptions(options);
  const dice = createDice(options.seed);
  const time = createVirtualTime({ realWaitMs: options.realWaitMs ?? 2_000 });
  const trace = createTrace(options.trace ?? false);
  const agent = options.agent ?? sampleAgent();
  const stop = digestInOrder();
  const unhandled: Finding[] = [];
  const onUnhandled = (reason: unknown): void =>
    void unhandled.push({
      invariant: "I14",
      session: "",
      message: `unhandled: ${reason instanceof Error ? reason.stack : String(reason)}`,
    });
  process.on("unhandledRejection", onUnhandled);
  try {
    const world = createWorld({ ...expanded, time, trace, dice, agent, model: options.model ?? sampleModel, sabotage });
    if (expanded.calm) world.calmDown();
    if (expanded.isRestored) for (let at = 1; at <= expanded.sessions; at++) await beginBefore(world, `s${at}`);
    const storm: Storm = { world, options: expanded, dice, texts: options.texts, clients: clientsOf(world, expanded) };
    const stalled = await weather(storm);
    const findings = [
      ...stalled,
      ...(await checkWorld({ world, clients: storm.clients, options: expanded, isOver: stalled.length === 0 })),
    ];
    await new Promise((resolve) => void setImmediate(resolve));
    const sessions = [...new Set(storm.clients.map(({ session }) => session))];
    const logs = await Promise.all(sessions.map((session) => factsOf(world.store, { scope: world.scope, session })));
    if (onLog) await giveLogs(world, sessions, onLog);
    const firings = logs.flat().filter(isFiring).length;
    return reportOf({ options, expanded, world, findings: [...findings, ...unhandled], firings });
  } finally {
    process.off("unhandledRejection", onUnhandled);
    stop();
  }
}

async function giveLogs(
  { store, scope }: World,
  sessions: readonly string[],
  onLog: NonNullable<SimulationExtras["onLog"]>,
): Promise<void> {
  for (const session of sessions)
    for (const each of [session, ...(await sessionsBelow(store.truth, { scope, session }))])
      onLog(each, await factsOf(store, { scope, session: each }));
}

/** Storm, then calm. A simulation that never comes to rest is a finding. */
async function weather(storm: Storm): Promise<readonly Finding[]> {
  try {
    planStorm(storm);
    await storm.world.time.pass({ untilMs: storm.options.stormMs });
    endStorm(storm);
    const stalled = await comeToRest(storm);
    // A process that was cut off from the store until now has to read first that a session rests.
    if (stalled.length === 0) await untilNothingIsIdle(storm.world);
    return stalled;
  } catch (error) {
    if (error instanceof RangeError) return [{ invariant: "S5", session: "", message: error.message }];
    throw error;
  }
}

function clientsOf(world: World, { seed, sessions, clientsPerSession }: ExpandedOptions): readonly SimulatedClient[] {
  return Array.from({ length: sessions }, (_, at) => `s${at + 1}`).flatMap((session) =>
    Array.from({ length: clientsPerSession }, (_, at) => {
      const name = `${session}-c${at + 1}`;
      return new SimulatedClient({ world, name, session, dice: createDice(seed).fork(`client ${name}`) });
    }),
  );
}

/** S5: waits until no work is left and every process knows it; a session without progress for too long is a finding. */
async function comeToRest({ world, clients, options }: Storm): Promise<readonly Finding[]> {
  const { time, store, scope } = world;
  const sessions = [...new Set(clients.map(({ session }) => session))];
  const seen = new Map<string, { readonly lastSeq: number; readonly sinceMs: number }>();
  // With fewer places in a worker than sessions, a session may wait until another one has worked off its inputs.
  const waitsForOthers = options.hosting.workerSessions < sessions.length;
  const endMs = time.nowMs + calmMaxMs;
  for (let restingSince = Number.POSITIVE_INFINITY; time.nowMs < endMs; ) {
    await time.pass({ untilMs: time.nowMs + lookMs });
    // A fault planned before the end of the storm may still kill a process when the answer to its request arrives.
    for (const [place, { node }] of world.hosts.entries()) if (node.state === "dead") world.start(place);
    for (const client of clients) {
      if (!client.isConnected) client.connect();
      client.answer();
      client.decide();
    }
    // A process that is cut off from the store cannot send its clients the events of the log.
    let isBusy = !store.isReachable || clients.some(({ openCount }) => openCount > 0);
    for (const session of sessions) {
      const facts = await factsOf(store, { scope, session });
      endIntervals(facts, clients, session);
      const { owed = owedFiring(facts), waiting } = readLog(facts);
      const before = seen.get(session);
      if (before?.lastSeq !== facts.length) seen.set(session, { lastSeq: facts.length, sinceMs: time.nowMs });
      const isOwing = owed !== undefined || waiting.length > 0;
      const movedMs = waitsForOthers ? Math.max(...[...seen.values()].map(({ sinceMs }) => sinceMs)) : (seen.get(session)?.sinceMs ?? 0);
      if (isOwing && time.nowMs - movedMs > options.quietMs)
        return [
          { invariant: "S5", session, message: `nothing has moved for ${options.quietMs} ms: ${owed ?? `waits for ${waiting.join()}`}` },
        ];
      isBusy ||= isOwing;
    }
    if (isBusy) restingSince = Number.POSITIVE_INFINITY;
    else restingSince = Math.min(restingSince, time.nowMs);
    const restedMs = time.nowMs - restingSince;
    // After the last event no client may receive more; missing events are found by the checker.
    if (restedMs >= receiveMaxMs || (restedMs >= receiveMs && (await haveReceivedAll(world, clients)))) return [];
  }
  return [{ invariant: "S5", session: "", message: `the world did not rest within ${calmMaxMs} ms` }];
}

/** A schedule that fires again and again would never let the world rest: one of its people removes it. */
function endIntervals(facts: readonly Fact[], clients: readonly SimulatedClient[], session: string): void {
  if (clients.some(({ openCount }) => openCount > 0)) return;
  const client = clients.find((each) => each.session === session);
  for (const [name, { everyMs }] of standingSchedules(facts)) if (everyMs !== undefined) void client?.unschedule(name);
}

async function haveReceivedAll(world: World, clients: readonly SimulatedClient[]): Promise<boolean> {
  for (const session of new Set(clients.map((client) => client.session))) {
    let last: DurableEvent | undefined;
    for await (const events of readHistory(world.store.truth, { scope: world.scope, session })) last = events.at(-1);
    const isBehind = ({ recording }: SimulatedClient): boolean => recording.cursor?.seq !== last?.seq || recording.cursor?.k !== last?.k;
    if (clients.some((client) => client.session === session && isBehind(client))) return false;
  }
  return true;
}

interface Outcome {
  readonly options: SimulateOptions;
  readonly expanded: ExpandedOptions;
  readonly world: World;
  readonly findings: readonly Finding[];
  readonly firings: number;
}

function reportOf({ options, expanded, world, findings, firings }: Outcome): SimulationReport {
  const { time, trace, witness, everyHost, store, record } = world;
  const { facts, runs } = countFacts(world, expanded.sessions);
  trace.add(
    time.nowMs,
    `ends with ${facts} facts, ${witness.tools.length} tools, ${witness.models.length} models, ${store.claims.length} claims`,
  );
  return {
    seed: options.seed,
    findings,
    options: expanded,
    traceHash: trace.hash,
    trace: trace.lines,
    figures: {
      firings,
      sessions: expanded.sessions,
      facts,
      runs,
      requests: everyHost.reduce((sum, { node }) => sum + node.asked.length, 0),
      events: time.eventCount,
      crashes: everyHost.filter(({ node, isLeaving }) => node.state === "dead" && !isLeaving).length,
      handOvers: record.handOvers.filter(({ endedAtMs }) => endedAtMs !== undefined).length,
      evictions: record.evictions,
      toolStarts: witness.tools.length,
      modelCalls: witness.models.length,
      virtualMs: Math.round(time.nowMs),
      lateWork: time.lateCount,
    },
    replay: replayOf(options),
  };
}

function countFacts({ store, scope }: World, sessions: number): { readonly facts: number; readonly runs: number } {
  const logs = Array.from({ length: sessions }, (_, at) => store.counted({ scope, session: `s${at + 1}` }));
  return { facts: logs.reduce((sum, { facts }) => sum + facts, 0), runs: logs.reduce((sum, { runs }) => sum + runs, 0) };
}

/** Plain data is printed; an agent or a script cannot be, so its name is. */
function replayOf({ agent, model, trace: _, ...plain }: SimulateOptions): string {
  const more = [agent ? `agent /* ${agent.name} */` : [], model ? "model" : []].flat();
  const data = JSON.stringify({ ...plain, trace: true });
  const text = more.length > 0 ? `${data.slice(0, -1)},${more.map((name) => `${name}`).join()}}` : data;
  return `import { simulate } from "@loopwright/simulator"; console.log((await simulate(${text})).findings)`;
}
