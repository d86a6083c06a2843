/*
 * Owns: one scripted conversation over a calm world in which a process dies, or a request is lost, at one chosen place.
 */
import type { Fact } from "@loopwright/core";
import { digestInOrder } from "@loopwright/replay";
import { owedFiring } from "../check/check-schedules.ts";
import { checkWorld } from "../check/check-world.ts";
import type { Finding } from "../check/finding.ts";
import { readLog } from "../check/log-model.ts";
import { SimulatedClient } from "../people/simulated-client.ts";
import { createDice } from "../world/dice.ts";
import { expandOptions } from "../world/expand-options.ts";
import type { NodeRole } from "../world/simulated-host.ts";
import type { Fate } from "../world/simulated-node.ts";
import { factsOf } from "../world/simulated-store.ts";
import { createWorld, type Sabotage, type World } from "../world/simulated-world.ts";
import { createTrace } from "../world/trace.ts";
import { untilNothingIsIdle } from "../world/until-nothing-is-idle.ts";
import { createVirtualTime } from "../world/virtual-time.ts";
import { scriptAgent, scriptedToolMs, scriptModel } from "./script-agent.ts";
import type { ScriptedAct, TurnScript } from "./turn-script.ts";

/** A fault that hits a process at its n-th request. */
export interface Fuse {
  /** Name of the process, a node and its incarnation: `n1.1`, `n2.1`, `n1.2` after a restart, ... */
  readonly node: string;
  readonly place: number;
  readonly fate: Partial<Fate>;
}

/** `together`: every process serves and drives. `apart`: every other one serves, the others drive. */
export type ScriptSetting = "together" | "apart";

export interface ScriptOptions {
  readonly setting: ScriptSetting;
  readonly fuses: readonly Fuse[];
  readonly sabotage?: Sabotage;
}

const rolesOf: { readonly [setting in ScriptSetting]: readonly NodeRole[] } = {
  together: ["all", "all", "all"],
  apart: ["server", "worker", "server", "worker", "server", "worker"],
};

export interface ScriptRun {
  readonly world: World;
  readonly facts: readonly Fact[];
  /** What the log held when the first process died; absent: none did. */
  readonly factsAtCrash: readonly Fact[] | undefined;
  readonly findings: readonly Finding[];
  /** The requests of each process until the idle sessions were evicted. */
  readonly requests: ReadonlyMap<string, readonly string[]>;
}

const session = "s1";
const hosting = { sessionIdleMs: 200, sessionsLoaded: 1, workerSessions: 8, sweepMs: 10_000, pollMs: 1_000 } as const;
const lookMs = 250;
const quietMs = 90_000;
const restMs = 1_500;
/** Longer than any pause of a process. */
const receiveMaxMs = 30_000;

/** Runs the script once; the same script and fuses give the same run. */
export async function runScript(script: TurnScript, { setting, fuses, sabotage }: ScriptOptions): Promise<ScriptRun> {
  const time = createVirtualTime({ realWaitMs: 2_000 });
  const expanded = expandOptions({ seed: 1, calm: true, roles: rolesOf[setting], sessions: 1, clientsPerSession: 1, leaseMs: 5_000 });
  const agent = scriptAgent(script, () => world.witness);
  const world: World = createWorld({
    ...expanded,
    ...{ hosting, hasQueue: true },
    deaf: [],
    hasChannel: true,
    modelPaceMs: { first: 100, next: 30 },
    time,
    trace: createTrace(false),
    dice: createDice(1),
    agent,
    model: scriptModel(script),
    isSticky: true,
    toolMs: scriptedToolMs,
    sabotage,
    fuse: ({ node, place }) => fuses.find((fuse) => fuse.node === node.name && fuse.place === place)?.fate,
  });
  // No random faults: only the fuses hit.
  world.calmDown();
  const restoreDigest = digestInOrder();
  let atCrash: Promise<readonly Fact[]> | undefined;
  for (const { node } of world.hosts)
    node.onDeath(() => {
      atCrash ??= factsOf(world.store, { scope: world.scope, session });
    });
  try {
    const client = new SimulatedClient({ world, name: "c1", session, dice: createDice(7), isPatient: true });
    followScript(world, client, script.acts ?? [{ after: "start", does: "say" }]);
    const stalled = await untilOver(world, client);
    if (stalled.length === 0) await untilNothingIsIdle(world);
    const requests = new Map(world.everyHost.map(({ node }) => [node.name, [...node.asked]]));
    const isOver = stalled.length === 0;
    const findings = [
      ...stalled,
      // Not calm: a fuse may kill an owner, and then an abort waits for the end of its lease.
      ...(await checkWorld({ world, clients: [client], options: { calm: false, leaseMs: expanded.leaseMs }, isOver })),
    ];
    return { world, facts: await factsOf(world.store, { scope: world.scope, session }), factsAtCrash: await atCrash, findings, requests };
  } finally {
    restoreDigest();
  }
}

/** Performs each step of the script when the client receives the event that triggers it. */
function followScript(world: World, client: SimulatedClient, acts: readonly ScriptedAct[]): void {
  const open = new Set(acts);
  const look = (): void => {
    if (!client.isConnected) client.connect();
    for (const act of open) {
      if (act.after !== "start" && client.recording.countOf(act.after) < (act.nth ?? 1)) continue;
      open.delete(act);
      performed[act.does](client);
    }
    world.time.schedule(5, look);
  };
  look();
}

const scheduled = "daily";
/** Leaves a client the time to reach a live process: a date in the past is refused. */
const aheadMs = 40_000;

const performed: { readonly [does in ScriptedAct["does"]]: (client: SimulatedClient) => void } = {
  say: (client) => client.say("enqueue"),
  steer: (client) => client.say("steer"),
  merge: (client) => client.say("merge"),
  interrupt: (client) => client.say("interrupt"),
  abort: (client) => client.abort(),
  answer: (client) => client.answer(),
  "answer-twice": (client) => client.answer({ isDouble: true }),
  "answer-by-id": (client) => client.answer({ byId: true }),
  "answer-again": (client) => client.answerAgain(),
  allow: (client) => client.decide({ decision: "allow" }),
  deny: (client) => client.decide({ decision: "deny" }),
  "decide-twice": (client) => client.decide({ isDouble: true }),
  rename: (client) => client.rename(),
  schedule: (client) => client.setSchedule(scheduled, { inMs: aheadMs }),
  "schedule-often": (client) => client.setSchedule(scheduled, { inMs: aheadMs, everyMs: 1_000 }),
  unschedule: (client) => void client.unschedule(scheduled),
};

async function untilOver(world: World, client: SimulatedClient): Promise<readonly Finding[]> {
  const { time, store, scope } = world;
  let moved = { length: 0, sinceMs: 0 };
  for (let restingSince = Number.POSITIVE_INFINITY; ; ) {
    await time.pass({ untilMs: time.nowMs + lookMs });
    const facts = await factsOf(store, { scope, session });
    if (facts.length !== moved.length) moved = { length: facts.length, sinceMs: time.nowMs };
    const { owed = owedFiring(facts), waiting, inputs } = readLog(facts);
    const isBusy = owed !== undefined || waiting.length > 0 || client.openCount > 0 || inputs.length === 0;
    restingSince = isBusy ? Number.POSITIVE_INFINITY : Math.min(restingSince, time.nowMs);
    const isReceived = client.recording.countOf("run_end") >= facts.filter(({ type }) => type === "run.finished").length;
    if (time.nowMs - restingSince >= (isReceived ? restMs : receiveMaxMs)) return [];
    if (isBusy && time.nowMs - moved.sinceMs > quietMs) {
      const open = `${client.openCount} requests of the client are open`;
      const unfinished = inputs.length === 0 ? `no input was accepted, and ${open}` : open;
      const why = owed ?? (waiting.length > 0 ? `waits for ${waiting.join()}` : unfinished);
      return [{ invariant: "S5", session, message: `nothing has moved for ${quietMs} ms: ${why}` }];
    }
  }
}
