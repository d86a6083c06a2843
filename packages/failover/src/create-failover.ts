/*
 * Owns: which calls a shared circuit refuses, and which one is its probe.
 * Does not own: what the outcome of a call means for it (watched-call), the retries, the spread and the circuits of the process itself (the guard below), which model follows (core).
 * Invariants
 *  F1 a refused call of a chain moves on at once; nothing is sent to the vendor;
 *  F2 of all processes one call is the probe of an open circuit that is due;
 *  F3 many calls in the same moment ask a model of a chain only if it answers;
 *  F4 keys that are not the platform's have circuits of the process alone.
 */
import { type CallGuard, type CallTarget, createCallGuard, type Failure } from "@loopwright/core";
import { randomIds, silentLogger, systemClock } from "@loopwright/core/memory";
import type { Clock, IdSource, Logger } from "@loopwright/core/ports";
import { Circuit, type CircuitParts } from "./circuit.ts";
import { type CircuitRecords, memoryCircuits } from "./circuit-records.ts";
import { type FailoverLimits, failoverLimits } from "./failover-limits.ts";
import { pauseOf } from "./open-circuit.ts";
import { releaseProbe, watchedCall } from "./watched-call.ts";

export interface FailoverOptions extends Partial<FailoverLimits> {
  /** What the processes share, for example `redisRecords` or `sqliteRecords` of `@loopwright/user-settings`. Default: circuits of this process. */
  readonly records?: CircuitRecords;
  /** What bounds the retries of this process. Default: a new one with its defaults. */
  readonly guard?: CallGuard;
  readonly clock?: Clock;
  readonly ids?: IdSource;
  /** Gets a warning where the records cannot be had. Default: none. */
  readonly logger?: Logger;
}

/** The owner of the records within a scope: no user has them. */
const owner = "failover";

/** A guard for `createRuntime({ callGuard })` that leaves failing models alone together with the other processes on the same records. */
export function createFailover(options: FailoverOptions = {}): CallGuard {
  const { records = memoryCircuits(), clock = systemClock, ids = randomIds, logger = silentLogger, ...changed } = options;
  const { guard = createCallGuard({ clock }), ...changedLimits } = changed;
  const limits: FailoverLimits = { ...failoverLimits, ...changedLimits };
  const parts: CircuitParts = { records, clock, limits, onTrouble: warnings({ clock, logger, limits }) };
  const circuitOf = circuitsOf(parts);
  const probes = new WeakMap<CallTarget, string>();
  const isOneProcess = options.records === undefined;

  const isDue = ({ known }: Circuit): boolean => known !== undefined && pauseOf(known, clock.now(), limits.probeAskAgainMs) === 0;

  const claim = async (target: CallTarget, circuit: Circuit): Promise<void> => {
    if (!isOneProcess && circuit.isStale) await circuit.refresh();
    if (!isDue(circuit)) return;
    const by = ids.next();
    const isMine = await circuit.changed((now) =>
      now && pauseOf(now, clock.now(), limits.probeAskAgainMs) === 0
        ? { ...now, probe: { by, untilMs: clock.now() + limits.probeMs } }
        : "same",
    );
    if (isMine) probes.set(target, by);
  };

  /** A closed circuit of a chain is no proof that the model answers: of many calls in the same moment a few look. */
  const look = (target: CallTarget, circuit: Circuit): Promise<void> | undefined =>
    target.hasNext && circuit.known === undefined ? circuit.unproven.take(target) : undefined;

  const prepare = (target: CallTarget): Promise<void> | undefined => {
    if (target.key !== undefined) return undefined;
    const circuit = circuitOf(target);
    const asksRecords = (!isOneProcess && circuit.isStale) || isDue(circuit);
    return asksRecords ? claim(target, circuit).then(() => look(target, circuit)) : look(target, circuit);
  };

  return {
    prepare,
    admit(target, attempt) {
      if (target.key !== undefined) return guard.admit(target, attempt);
      const circuit = circuitOf(target);
      const by = probes.get(target);
      const { known } = circuit;
      if (known && by === undefined) {
        const waitMs = Math.ceil(pauseOf(known, clock.now(), limits.probeAskAgainMs)) || limits.probeAskAgainMs;
        return { refused: refusalOf(target, waitMs) };
      }
      if (circuit.unproven.hasMoved(target)) return { refused: refusalOf(target, limits.probeAskAgainMs) };
      const admitted = guard.admit(target, attempt);
      if ("call" in admitted) return { call: watchedCall(admitted.call, { circuit, by, parts, ids, target }) };
      if (by !== undefined) releaseProbe(circuit, by);
      return admitted;
    },
    waitMs: (retry) => guard.waitMs(retry),
  };
}

/** The circuit of a target, of which the latest ones are remembered. */
function circuitsOf(parts: CircuitParts): (target: CallTarget) => Circuit {
  const circuits = new Map<string, Circuit>();
  return ({ scope, provider, model, hasNext = false }) => {
    const id = JSON.stringify([provider, model, hasNext ? "chain" : "alone"]);
    const key = JSON.stringify([scope, id]);
    const circuit = circuits.get(key) ?? new Circuit(parts, { owner: { scope, user: owner }, id });
    circuits.delete(key);
    circuits.set(key, circuit);
    const [oldest] = circuits.keys();
    if (circuits.size > parts.limits.circuitsMax && oldest !== undefined) circuits.delete(oldest);
    return circuit;
  };
}

function refusalOf({ provider, model }: CallTarget, waitMs: number): Failure {
  const message = `${model} at ${provider} has failed, here or in another process; no call is made for ${waitMs} ms.`;
  return { code: "MODEL_CIRCUIT_OPEN", message, retryable: true, retryAfterMs: waitMs };
}

function warnings({
  clock,
  logger,
  limits,
}: Pick<CircuitParts, "clock" | "limits"> & { readonly logger: Logger }): CircuitParts["onTrouble"] {
  let warnedAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    const now = clock.monotonic();
    if (now - warnedAt < limits.warningMs) return;
    warnedAt = now;
    logger.log("warn", "The circuits that processes share could not be read or written; this process decides by its own.", {
      error: error instanceof Error ? error.message : "unknown error",
    });
  };
}
