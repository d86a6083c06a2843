/*
 * Owns: which fault hits a world when, and what its people do meanwhile. Does not own: requests that are lost (fate).
 */
import { isAgentError } from "@loopwright/core";
import type { SimulatedClient } from "../people/simulated-client.ts";
import type { Dice } from "../world/dice.ts";
import type { ExpandedOptions, FaultRates } from "../world/expand-options.ts";
import { type SimulatedHost, strangeAgent } from "../world/simulated-host.ts";
import { factsOf } from "../world/simulated-store.ts";
import type { World } from "../world/simulated-world.ts";

export interface Storm {
  readonly world: World;
  readonly clients: readonly SimulatedClient[];
  readonly options: ExpandedOptions;
  readonly dice: Dice;
  readonly texts: readonly string[] | undefined;
}

/** How often processes that died by themselves are started again. */
const careMs = 1_000;

function careFor({ world }: Storm, dice: Dice): void {
  for (const [place, { node }] of world.hosts.entries()) if (node.state === "dead" && dice.chance(0.3)) world.start(place);
}

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** Plans every disturbance and everything that people do until the storm is over. */
export function planStorm(storm: Storm): void {
  const { options, dice } = storm;
  for (const [kind, disturb] of Object.entries(disturbances)) {
    const faultDice = dice.fork(kind);
    const perMinute = options.faults[kind as keyof typeof disturbances];
    plan(storm, { perMinute, dice: faultDice, run: () => disturb(storm, faultDice) });
  }
  const careDice = dice.fork("care");
  for (let atMs = 0; atMs < options.stormMs; atMs += careMs) storm.world.time.schedule(atMs, () => careFor(storm, careDice));
  for (const client of storm.clients) {
    const actDice = dice.fork(client.name);
    storm.world.time.schedule(actDice.between(0, 300), () => {
      client.connect();
      client.say("enqueue", textOf(storm, actDice));
    });
    plan(storm, { perMinute: options.actsPerMinute, dice: actDice, run: () => act(storm, client, actDice) });
    const planDice = dice.fork(`schedules of ${client.name}`);
    const schedule = (): void => client.schedule(planDice, textOf(storm, planDice));
    plan(storm, { perMinute: options.schedulesPerMinute, dice: planDice, run: schedule });
  }
}

/** So many a minute, at random. */
function plan(
  { world, options }: Storm,
  { perMinute, dice, run }: { readonly perMinute: number; readonly dice: Dice; readonly run: () => void },
): void {
  if (perMinute <= 0) return;
  let atMs = 0;
  for (;;) {
    atMs += (-Math.log(1 - dice.next()) * minuteMs) / perMinute;
    if (atMs >= options.stormMs) return;
    world.time.schedule(atMs, run);
  }
}

const textOf = ({ texts }: Storm, dice: Dice): string | undefined => (texts && texts.length > 0 ? dice.oneOf(texts) : undefined);

/** One person performs one random action. */
function act(storm: Storm, client: SimulatedClient, dice: Dice): void {
  const roll = dice.next();
  if (roll < 0.3)
    client.say(dice.oneOf(["enqueue", "enqueue", "enqueue", "steer", "steer", "interrupt", "merge", "merge"]), textOf(storm, dice));
  else if (roll < 0.5) client.answer({ isDouble: dice.chance(0.2) });
  else if (roll < 0.64) client.decide({ isDouble: dice.chance(0.2) });
  else if (roll < 0.72) client.abort();
  else if (roll < 0.75) client.rename();
  else if (roll < 0.8) client.disconnect();
  else if (!client.isConnected || roll < 0.88) client.connect();
}

type Disturb = (storm: Storm, dice: Dice) => void;

const disturbances: { readonly [kind in Exclude<keyof FaultRates, "unknown" | "doubled" | "slow" | "lossy">]: Disturb } = {
  crashes({ world }, dice) {
    const place = dice.below(world.hosts.length);
    crashAndStart(world, place, dice);
  },
  pauses({ world, options }, dice) {
    victimOf(world, dice)?.node.pause(dice.between(100, options.leaseMs * (dice.chance(0.6) ? 3 : 0.5)));
  },
  outages: ({ world }, dice) => world.store.goAway(dice.between(100, dice.chance(0.3) ? 15_000 : 3_000)),
  machineCrashes({ world }, dice) {
    world.store.loseUnsynced();
    world.store.goAway(dice.between(50, 500));
    for (const place of world.hosts.keys()) crashAndStart(world, place, dice);
  },
  handOvers({ world, options }, dice) {
    const host = victimOf(world, dice);
    if (!host || host.isLeaving) return;
    const place = world.hosts.indexOf(host);
    void host.leave(dice.chance(0.7) ? dice.between(1, 50) : dice.between(50, 2_000));
    const again = (): void => void (world.hosts[place] === host && world.start(place));
    if (options.calm) return host.node.onDeath(() => void world.time.schedule(dice.between(50, 1_000), again));
    // A process that takes too long is killed.
    world.time.schedule(dice.between(500, 5_000), () => {
      host.node.crash("after its drain");
      again();
    });
  },
  evictions({ world, clients }, dice) {
    aliveOf(world, dice)?.letGo(dice.oneOf(clients).session);
  },
  clockTurns({ world }, dice) {
    const byMs = dice.chance(0.5) ? dice.between(-2 * dayMs, 2 * dayMs) : dice.between(-2_000, 2_000);
    aliveOf(world, dice)?.node.turnClock(byMs);
  },
  partitions({ world, options }, dice) {
    const victim = victimOf(world, dice);
    if (victim) world.store.cutOff(victim.node.name, dice.between(500, options.leaseMs * 3));
  },
  cuts({ world }, dice) {
    world.channel.cut(dice.oneOf(world.hosts).node.name, dice.between(100, 6_000));
  },
  wrongAgents({ world, clients }, dice) {
    const host = aliveOf(world, dice);
    if (host) void intrude(world, host, dice.oneOf(clients).session);
  },
};

/** Sends an input to an existing session under another agent than its own: it has to be refused. */
async function intrude({ store, scope, trace, time }: World, host: SimulatedHost, session: string): Promise<void> {
  const facts = await factsOf(store, { scope, session });
  if (!facts.some(({ type }) => type === "session.opened")) return;
  const handle = host.strange(session);
  const note = (line: string): void => trace.add(time.nowMs, `${handle.id} ${line}`);
  await handle.submit("Let me in.", { access: { user: strangeAgent, scope } }).then(
    () => note("admits a user of another scope"),
    (error: unknown) => note(`refuses a user of another scope with ${isAgentError(error) ? error.code : "no code"}`),
  );
  await handle[Symbol.asyncDispose]();
}

function aliveOf(world: World, dice: Dice): SimulatedHost | undefined {
  const alive = world.hosts.filter(({ node }) => node.state === "alive");
  return alive.length > 0 ? dice.oneOf(alive) : undefined;
}

/** Half of the time a process that runs a tool or, failing that, a session: a fault elsewhere shows little. */
function victimOf(world: World, dice: Dice): SimulatedHost | undefined {
  const isBusy = ({ node }: SimulatedHost): boolean =>
    world.witness.tools.some((start) => start.node === node.name && start.notifiedAtMs === undefined);
  const runs = ({ loaded }: SimulatedHost): boolean => [...loaded].some(({ session }) => session.isOwner);
  const alive = world.hosts.filter(({ node }) => node.state === "alive");
  const chosen = dice.chance(0.5) ? [alive.filter(isBusy), alive.filter(runs)].find(({ length }) => length > 0) : undefined;
  return chosen ? dice.oneOf(chosen) : aliveOf(world, dice);
}

function crashAndStart(world: World, place: number, dice: Dice): void {
  const host = world.hosts[place];
  host?.node.crash("killed");
  world.time.schedule(dice.between(100, 8_000), () => {
    if (world.hosts[place] === host) world.start(place);
  });
}

/** Ends the storm: starts dead processes again, sets clocks right and connects every client. */
export function endStorm({ world, clients }: Storm): void {
  world.calmDown();
  for (const [place, { node }] of world.hosts.entries()) {
    if (node.state === "dead") world.start(place);
    else {
      // By a clock that is days ahead every deadline is over, and no answer is accepted any more.
      node.mendClock();
      node.proceed();
    }
  }
  for (const client of clients) if (!client.isConnected) client.connect();
}
