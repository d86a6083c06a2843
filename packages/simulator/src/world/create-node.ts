/*
 * Owns: the life of one process: its requests to the world take time and have no effect once it is dead; while it is paused it does nothing.
 * Does not own: the requests (store, channel, queue, model, tools), when it dies (the storm, a fuse).
 */
import type { Clock } from "@loopwright/core/ports";
import { askWorld } from "./ask-world.ts";
import type { NodeOptions, SimulatedNode } from "./simulated-node.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** A process that has just begun. */
export function createNode(options: NodeOptions): SimulatedNode {
  const { name, time, trace } = options;
  const asked: string[] = [];
  const deaths: (() => void)[] = [];
  let state: SimulatedNode["state"] = "alive";
  let diedAtMs: number | undefined;
  const backlog: (() => void)[] = [];
  const wall = createWall((line) => note(line));
  let lastPause: SimulatedNode["lastPause"];

  const note = (line: string): void => trace.add(time.nowMs, `${name} ${line}`);
  const enter = (run: () => void): void => {
    if (state === "alive") run();
    else if (state === "paused") backlog.push(run);
  };
  const proceed = (): void => {
    if (state !== "paused") return;
    state = "alive";
    if (lastPause) lastPause = { ...lastPause, toMs: time.nowMs };
    note("continues");
    for (const run of backlog.splice(0)) time.schedule(0, () => enter(run));
  };
  const node: SimulatedNode = {
    name,
    asked,
    bornAtMs: time.nowMs,
    get state() {
      return state;
    },
    get diedAtMs() {
      return diedAtMs;
    },
    get hasTrueClock() {
      return !wall.wasTurned;
    },
    get lastPause() {
      return lastPause;
    },
    clock: clockOf(options, { enter, offsetMs: () => wall.offsetMs }),
    enter,
    ask: (call) => askWorld(options, node, call),
    does: (kind, detail = "") => does(options, node, { kind, detail }),
    sleep: (ms, signal) => sleepIn(node, { time, ms, signal }),
    crash(why) {
      if (state === "dead") return;
      note(`dies ${why}`);
      state = "dead";
      diedAtMs = time.nowMs;
      backlog.length = 0;
      for (const listener of deaths.splice(0)) listener();
    },
    pause(forMs) {
      if (state !== "alive") return;
      note(`stops for ${Math.round(forMs)}`);
      state = "paused";
      lastPause = { fromMs: time.nowMs, toMs: time.nowMs + forMs };
      const mine = lastPause;
      time.schedule(forMs, () => lastPause === mine && proceed());
    },
    proceed,
    ...createTermination((listener) => time.schedule(0, () => enter(listener))),
    onDeath(listener) {
      if (state === "dead") listener();
      else deaths.push(listener);
    },
    turnClock: wall.turn,
    mendClock: wall.mend,
  };
  return node;
}

/** SIGTERM, which a process handles as soon as it runs. */
function createTermination(soon: (listener: () => void) => void): Pick<SimulatedNode, "terminate" | "onTerminate"> {
  const listeners: (() => void)[] = [];
  return {
    terminate() {
      for (const listener of listeners.splice(0)) soon(listener);
    },
    onTerminate: (listener) => void listeners.push(listener),
  };
}

/** The wall clock of one process, which a fault may set wrong. */
function createWall(note: (line: string) => void) {
  const wall = {
    offsetMs: 0,
    wasTurned: false,
    turn(byMs: number): void {
      note(`turns its clock by ${Math.round(byMs)}`);
      wall.offsetMs += byMs;
      wall.wasTurned = true;
    },
    mend(): void {
      if (wall.offsetMs !== 0) note("has its clock set right");
      wall.offsetMs = 0;
    },
  };
  return wall;
}

function does(
  { time, trace, fateOf }: NodeOptions,
  node: SimulatedNode,
  { kind, detail }: { readonly kind: string; readonly detail: string },
): boolean {
  if (node.state === "dead") return false;
  const place = (node.asked as string[]).push(kind);
  trace.add(time.nowMs, `${node.name} ${kind} ${detail}`);
  const { dies, isTerminated } = fateOf({ node, kind, place });
  if (isTerminated) node.terminate();
  if (dies === "before") node.crash(`before ${kind}`);
  // The last operation before the death has happened: its caller continues, and nothing after it has an effect.
  else if (dies === "after") time.schedule(0, () => node.crash(`after ${kind}`));
  return dies !== "before";
}

function clockOf({ time, epochMs }: NodeOptions, { enter, offsetMs }: { enter: SimulatedNode["enter"]; offsetMs: () => number }): Clock {
  return {
    now: () => Math.floor(epochMs + time.nowMs + offsetMs()),
    monotonic: () => time.nowMs,
    after(ms, run) {
      let isOff = false;
      const cancel = time.schedule(ms, () => enter(() => isOff || run()));
      return () => {
        isOff = true;
        cancel();
      };
    },
    soon: (run) => void time.schedule(0, () => enter(run)),
  };
}

function sleepIn(
  node: SimulatedNode,
  { time, ms, signal }: { readonly time: VirtualTime; readonly ms: number; readonly signal: AbortSignal | undefined },
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const leave = (): void => signal?.removeEventListener("abort", stop);
    const cancel = time.schedule(ms, () =>
      node.enter(() => {
        leave();
        resolve();
      }),
    );
    const stop = (): void => {
      leave();
      cancel();
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", stop);
  });
}
