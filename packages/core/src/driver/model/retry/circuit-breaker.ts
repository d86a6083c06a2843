import { type ErrorClass, errorClassOf, type Failure } from "../../../errors.ts";
import type { CallGuardLimits } from "./call-guard-limits.ts";

/** Takes the reports on a call that was let through. Only the beginning of its answer counts for the circuit. */
export interface BreakerTicket {
  /** Called when the vendor has begun to answer, and again when the answer is complete. */
  answered(nowMs: number): void;
  failed(nowMs: number, failure: Failure): void;
  /** Called when the call was stopped, so that its end has no information about the vendor. */
  left(): void;
}

/** Stops calls to a vendor that fails repeatedly. Keeps one state per key, only while the vendor fails. */
export interface CircuitBreaker {
  /** Lets a call through, or returns how long it must wait. */
  admit(key: string, nowMs: number): { readonly ticket: BreakerTicket } | { readonly waitMs: number };
  /** How long calls of this key are refused from now on; 0: not at all. */
  pauseMs(key: string, nowMs: number): number;
}

interface Circuit {
  /** The times of the last failures with no answer in between, oldest first. */
  failures: number[];
  /** Absent: closed. */
  open?: { readonly untilMs: number; readonly forMs: number; probeUntilMs: number };
}

type BreakerLimits = Pick<CallGuardLimits, "failuresMax" | "failuresMs" | "openMs" | "openCapMs" | "probeAskAgainMs" | "circuitsMax">;

export function createCircuitBreaker(limits: BreakerLimits): CircuitBreaker {
  const circuits = new Map<string, Circuit>();

  const fail = (key: string, nowMs: number): void => {
    const circuit = circuits.get(key) ?? { failures: [] };
    if (circuit.open) return; // The call began before the circuit was opened.
    circuit.failures = [...circuit.failures.filter((at) => at > nowMs - limits.failuresMs), nowMs];
    if (circuit.failures.length >= limits.failuresMax) open(circuit, nowMs, limits.openMs);
    circuits.delete(key);
    circuits.set(key, circuit);
    const [oldest] = circuits.keys();
    if (circuits.size > limits.circuitsMax && oldest !== undefined) circuits.delete(oldest);
  };

  const plainTicket = (key: string): BreakerTicket => {
    const answered = (): void => {
      if (!circuits.get(key)?.open) circuits.delete(key);
    };
    return {
      answered,
      failed(nowMs, failure) {
        const health = healthAfter(failure);
        if (health === "trouble") fail(key, nowMs);
        else if (health === "answer") answered();
      },
      left: () => {},
    };
  };

  /** The ticket of a probe. The beginning of its answer closes the circuit; later reports count like those of any other call. */
  const probeTicket = (key: string, circuit: Circuit, probing: NonNullable<Circuit["open"]>): BreakerTicket => {
    const plain = plainTicket(key);
    let isDecided = false;
    const decide = (then: () => void): void => {
      isDecided = true;
      if (circuits.get(key)?.open === probing) then();
    };
    const close = (): void => decide(() => circuits.delete(key));
    const leave = (): void =>
      decide(() => {
        probing.probeUntilMs = 0;
      });
    return {
      answered: (nowMs) => (isDecided ? plain.answered(nowMs) : close()),
      failed(nowMs, failure) {
        if (isDecided) return plain.failed(nowMs, failure);
        const health = healthAfter(failure);
        if (health === "answer") close();
        else if (health === "nothing") leave();
        else decide(() => open(circuit, nowMs, Math.min(limits.openCapMs, probing.forMs * 2)));
      },
      left: () => (isDecided ? undefined : leave()),
    };
  };

  const pauseMs = (key: string, nowMs: number): number => {
    const circuit = circuits.get(key)?.open;
    if (!circuit) return 0;
    return circuit.untilMs > nowMs ? circuit.untilMs - nowMs : circuit.probeUntilMs > nowMs ? limits.probeAskAgainMs : 0;
  };

  return {
    pauseMs,
    admit(key, nowMs) {
      const waitMs = pauseMs(key, nowMs);
      if (waitMs > 0) return { waitMs };
      const circuit = circuits.get(key);
      if (!circuit?.open) return { ticket: plainTicket(key) };
      // A process that stopped in the middle of its probe must not keep the circuit open for ever.
      circuit.open.probeUntilMs = nowMs + limits.openCapMs;
      return { ticket: probeTicket(key, circuit, circuit.open) };
    },
  };
}

function open(circuit: Circuit, nowMs: number, forMs: number): void {
  circuit.open = { untilMs: nowMs + forMs, forMs, probeUntilMs: 0 };
  circuit.failures = [];
}

const troubles: ReadonlySet<ErrorClass> = new Set<ErrorClass>(["rate", "overload", "timeout", "network", "unknown"]);

/** What a failure means for the health of the vendor and the network: unhealthy, healthy (the request was refused), or nothing. */
function healthAfter({ code, retryable }: Failure): "trouble" | "answer" | "nothing" {
  // A failure of a hook or a store is no evidence against the vendor.
  if (!code.startsWith("MODEL_") && code !== "CONTEXT_OVERFLOW") return "nothing";
  if (!troubles.has(errorClassOf(code))) return "answer";
  return retryable ? "trouble" : "nothing";
}
