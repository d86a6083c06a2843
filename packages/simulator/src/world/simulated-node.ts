/*
 * Owns: the life of one process: what it asks of the world takes time, and nothing it asks has effect once it is dead; paused, it does nothing
 * until it goes on.
 * Does not own: what is asked (store, channel, queue, model, tools), when it dies (the storm, a fuse).
 */
import type { Clock } from "@loopwright/core/ports";
import type { Dice } from "./dice.ts";
import type { Trace } from "./trace.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** What becomes of one request to the world. */
export interface Fate {
  /** The process dies instead of asking, or as soon as the world has done what it asked. */
  readonly dies?: "before" | "after";
  /** The process stops for so long, right after the world has done what it asked. */
  readonly pausesMs?: number;
  /** The request never arrives, or its answer never comes, or it arrives long after nobody waits for it any more: `deadlineMs` passes first. */
  readonly lost?: "request" | "answer" | "late";
  readonly deadlineMs?: number;
  /** It arrives twice. */
  readonly isDoubled?: boolean;
  readonly requestMs: number;
  readonly answerMs: number;
}

/** Decides what becomes of what a node asks. */
export type FateOf = (asked: { readonly node: SimulatedNode; readonly kind: string; readonly place: number }) => Fate;

export interface PortCall<T> {
  /** For example `append`. */
  readonly kind: string;
  /** For the trace. */
  readonly detail?: string;
  /** What the world does; once per arrival. */
  readonly run: () => Promise<T>;
  /** What the caller is told when the answer is lost. */
  readonly lost: () => T;
  /** Planned again by the world until it lets the request in. Default: at once. */
  readonly isAway?: () => boolean;
}

export interface SimulatedNode {
  readonly name: string;
  readonly clock: Clock;
  readonly state: "alive" | "paused" | "dead";
  /** Requests so far; the n-th has the place n. */
  readonly asked: readonly string[];
  /** Asks the world; never answered once the process is dead. */
  ask<T>(call: PortCall<T>): Promise<T>;
  /** Counts something done without waiting: false when the process is dead, or dies of it. */
  does(kind: string, detail?: string): boolean;
  /** Runs in the process: not at all once it is dead, later where it is paused. */
  enter(run: () => void): void;
  /** Resolves after so long in this process; rejects when it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  crash(why: string): void;
  pause(forMs: number): void;
  /** Ends a pause before its time. */
  goOn(): void;
  /** Told once, when it dies, or now where it has. */
  onDeath(listener: () => void): void;
  /** Nobody has moved its wall clock. */
  readonly hasTrueClock: boolean;
  /** Moves its wall clock. */
  turnClock(byMs: number): void;
  /** When it was last paused, and until when. */
  readonly lastPause: { readonly fromMs: number; readonly toMs: number } | undefined;
}

export interface NodeOptions {
  readonly name: string;
  readonly time: VirtualTime;
  readonly trace: Trace;
  readonly dice: Dice;
  readonly fateOf: FateOf;
  /** Wall clock of the beginning, milliseconds since the epoch. */
  readonly epochMs: number;
}

/** Fresh each time: a shared one would keep alive everybody who ever waited for it. */
const never = (): Promise<never> => new Promise(() => {});

export function createNode(options: NodeOptions): SimulatedNode {
  const { name, time, trace, fateOf } = options;
  const asked: string[] = [];
  const deaths: (() => void)[] = [];
  let state: SimulatedNode["state"] = "alive";
  let backlog: (() => void)[] = [];
  let clockOffsetMs = 0;
  let lastPause: SimulatedNode["lastPause"];

  const note = (line: string): void => trace.add(time.nowMs, `${name} ${line}`);
  const enter = (run: () => void): void => {
    if (state === "alive") run();
    else if (state === "paused") backlog.push(run);
  };
  const goOn = (): void => {
    if (state !== "paused") return;
    state = "alive";
    if (lastPause) lastPause = { ...lastPause, toMs: time.nowMs };
    note("goes on");
    const waiting = backlog;
    backlog = [];
    for (const run of waiting) time.schedule(0, () => enter(run));
  };
  const node: SimulatedNode = {
    name,
    asked,
    get state() {
      return state;
    },
    get hasTrueClock() {
      return clockOffsetMs === 0;
    },
    get lastPause() {
      return lastPause;
    },
    clock: clockOf(options, { enter, offsetMs: () => clockOffsetMs }),
    enter,
    ask: (call) => ask(options, node, call),
    does(kind, detail = "") {
      if (state === "dead") return false;
      asked.push(kind);
      note(`${kind} ${detail}`);
      const { dies } = fateOf({ node, kind, place: asked.length });
      if (dies === "before") node.crash(`before ${kind}`);
      // What it did just before it died has happened: the caller is let through, and nothing after it counts.
      else if (dies === "after") time.schedule(0, () => node.crash(`after ${kind}`));
      return dies !== "before";
    },
    sleep: (ms, signal) => sleepIn(node, { time, ms, signal }),
    crash(why) {
      if (state === "dead") return;
      note(`dies ${why}`);
      state = "dead";
      backlog = [];
      for (const listener of deaths.splice(0)) listener();
    },
    pause(forMs) {
      if (state !== "alive") return;
      note(`stops for ${Math.round(forMs)}`);
      state = "paused";
      lastPause = { fromMs: time.nowMs, toMs: time.nowMs + forMs };
      const mine = lastPause;
      time.schedule(forMs, () => lastPause === mine && goOn());
    },
    goOn,
    onDeath(listener) {
      if (state === "dead") listener();
      else deaths.push(listener);
    },
    turnClock(byMs) {
      note(`turns its clock by ${Math.round(byMs)}`);
      clockOffsetMs += byMs;
    },
  };
  return node;
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

function ask<T>({ time, trace, fateOf }: NodeOptions, node: SimulatedNode, call: PortCall<T>): Promise<T> {
  if (node.state === "dead") return never();
  const place = (node.asked as string[]).push(call.kind);
  const note = (line: string): void => trace.add(time.nowMs, `${node.name} ${call.kind} ${call.detail ?? ""} ${line}`);
  const fate = fateOf({ node, kind: call.kind, place });
  if (fate.dies === "before") {
    node.crash(`before ${call.kind} (${place})`);
    return never();
  }
  return new Promise<T>((resolve, reject) => {
    const answer = (afterMs: number, settle: () => void): void => void time.schedule(afterMs, () => node.enter(settle));
    const sayLost = (afterMs: number): void =>
      answer(afterMs, () => {
        note("has no answer");
        try {
          resolve(call.lost());
        } catch (error) {
          reject(error as Error);
        }
      });
    if (fate.lost === "late") sayLost(fate.deadlineMs ?? 2_000);
    const arrive = async (): Promise<void> => {
      if (call.isAway?.()) return fate.lost === "late" ? undefined : sayLost(fate.deadlineMs ?? 2_000);
      if (fate.lost === "request") return sayLost(fate.deadlineMs ?? 0);
      const first = await settled(call.run());
      const outcome = fate.isDoubled ? await settled(call.run()) : first;
      note(outcome.said);
      if (fate.dies === "after") return node.crash(`after ${call.kind} (${place})`);
      if (fate.pausesMs !== undefined) node.pause(fate.pausesMs);
      if (fate.lost === "late") return;
      if (fate.lost === "answer") return sayLost(fate.deadlineMs ?? 0);
      answer(fate.answerMs, () => ("value" in outcome ? resolve(outcome.value) : reject(outcome.error)));
    };
    time.schedule(fate.requestMs, () => void arrive());
  });
}

type Settled<T> = { readonly said: string } & ({ readonly value: T } | { readonly error: Error });

async function settled<T>(work: Promise<T>): Promise<Settled<T>> {
  try {
    const value = await work;
    const said = typeof value === "object" && value !== null && "type" in value ? String(value.type) : "done";
    return { said, value };
  } catch (error) {
    return { said: "failed", error: error as Error };
  }
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
