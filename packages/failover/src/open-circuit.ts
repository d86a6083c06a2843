/*
 * Owns: what an open circuit is, as data, and what a probe and its outcome make of it. Pure.
 * Does not own: where it is kept (circuit), what a failure means (health-after).
 */
import type { JsonObject } from "@loopwright/core";
import type { CircuitRule } from "./failover-limits.ts";

/** A vendor's model that is left alone. Times are milliseconds since the epoch, which all processes share. */
export interface OpenCircuit {
  readonly untilMs: number;
  readonly forMs: number;
  /** The call that looks whether the vendor is back. */
  readonly probe?: { readonly by: string; readonly untilMs: number };
}

/** How long a circuit is to be open. */
export interface Opening {
  readonly nowMs: number;
  readonly rule: CircuitRule;
  /** The wait that the vendor asked for. */
  readonly askedMs: number;
  /** In [0, 1): where in the share of chance. */
  readonly random: number;
  readonly jitterShare: number;
}

/** The circuit after a failure that opens it; `before`: the one whose probe has failed. */
export function opened(before: OpenCircuit | undefined, { nowMs, rule, askedMs, random, jitterShare }: Opening): OpenCircuit {
  const forMs = before ? Math.min(rule.capMs, before.forMs * rule.factor) : rule.openMs;
  const spreadMs = Math.round(forMs * (1 + random * jitterShare));
  return { untilMs: nowMs + Math.max(spreadMs, Math.min(askedMs, rule.capMs)), forMs };
}

/** How long calls are refused from now on; 0: a probe is due. */
export function pauseOf({ untilMs, probe }: OpenCircuit, nowMs: number, probeAskAgainMs: number): number {
  if (untilMs > nowMs) return untilMs - nowMs;
  return probe && probe.untilMs > nowMs ? Math.min(probeAskAgainMs, probe.untilMs - nowMs) : 0;
}

/** The circuit as a value of the records; `undefined` is closed. */
export function written(circuit: OpenCircuit | undefined): JsonObject {
  if (!circuit) return {};
  const { untilMs, forMs, probe } = circuit;
  return { untilMs, forMs, ...(probe ? { probeBy: probe.by, probeUntilMs: probe.untilMs } : {}) };
}

/** The circuit of a value that `written` gave; anything else is a closed one. */
export function read({ untilMs, forMs, probeBy, probeUntilMs }: JsonObject): OpenCircuit | undefined {
  if (typeof untilMs !== "number" || typeof forMs !== "number") return undefined;
  const isProbed = typeof probeBy === "string" && typeof probeUntilMs === "number";
  return { untilMs, forMs, ...(isProbed ? { probe: { by: probeBy, untilMs: probeUntilMs } } : {}) };
}
