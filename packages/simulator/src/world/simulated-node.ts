import type { Clock } from "@loopwright/core/ports";
import type { Trace } from "./trace.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** The fate of one request to the world. */
export interface Fate {
  /** The process dies instead of asking, or as soon as the world has done what it asked. */
  readonly dies?: "before" | "after";
  /** The process stops for so long, right after the world has done what it asked. */
  readonly pausesMs?: number;
  /** The process is terminated, right after the world has done what it asked. */
  readonly isTerminated?: boolean;
  /** The request or its answer is lost, or arrives only after the caller has given up: `deadlineMs` passes first. */
  readonly lost?: "request" | "answer" | "late";
  readonly deadlineMs?: number;
  /** It arrives twice. */
  readonly isDoubled?: boolean;
  readonly requestMs: number;
  readonly answerMs: number;
}

/** Decides the fate of each request of a node. */
export type FateOf = (asked: { readonly node: SimulatedNode; readonly kind: string; readonly place: number }) => Fate;

export interface PortCall<T> {
  /** For example `append`. */
  readonly kind: string;
  /** For the trace. */
  readonly detail?: string;
  /** Performs the request in the world; called once per arrival. */
  readonly run: () => Promise<T>;
  /** The caller's error when the answer is lost. */
  readonly lost: () => T;
  /** True when the target is unreachable as the request arrives: the request is then lost. Default: never. */
  readonly isAway?: () => boolean;
}

/** One process of the world. */
export interface SimulatedNode {
  readonly name: string;
  readonly clock: Clock;
  readonly state: "alive" | "paused" | "dead";
  readonly bornAtMs: number;
  /** Absent while it lives. */
  readonly diedAtMs: number | undefined;
  /** Requests so far; the n-th has the place n. */
  readonly asked: readonly string[];
  /** Sends a request to the world; never answered once the process is dead. */
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
  proceed(): void;
  /** Terminates the process as an orchestrator does, by SIGTERM. */
  terminate(): void;
  onTerminate(listener: () => void): void;
  /** Called once, when the process dies; at once if it is dead. */
  onDeath(listener: () => void): void;
  /** True if its wall clock was never moved. */
  readonly hasTrueClock: boolean;
  /** Moves its wall clock. */
  turnClock(byMs: number): void;
  /** Sets its wall clock right again. */
  mendClock(): void;
  /** When it was last paused, and until when. */
  readonly lastPause: { readonly fromMs: number; readonly toMs: number } | undefined;
}

export interface NodeOptions {
  readonly name: string;
  readonly time: VirtualTime;
  readonly trace: Trace;
  readonly fateOf: FateOf;
  /** Wall clock of the beginning, milliseconds since the epoch. */
  readonly epochMs: number;
}
