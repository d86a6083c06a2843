import { describe, expect, it } from "vitest";
import type { ErrorCode } from "../../../errors.ts";
import { type BreakerTicket, type CircuitBreaker, createCircuitBreaker } from "./circuit-breaker.ts";

const limits = { failuresMax: 5, failuresMs: 30_000, openMs: 15_000, openCapMs: 120_000, probeAskAgainMs: 3_000, circuitsMax: 3 };
const failureOf = (code: ErrorCode, retryable = true) => ({ code, message: "No.", retryable });
const overloaded = failureOf("MODEL_OVERLOADED");

function ticketOf(breaker: CircuitBreaker, nowMs: number, key = "a"): BreakerTicket {
  const admitted = breaker.admit(key, nowMs);
  if ("ticket" in admitted) return admitted.ticket;
  throw new Error(`refused for ${admitted.waitMs} ms`);
}

/** A breaker whose circuit `a` was opened at 4,000. */
function opened(): CircuitBreaker {
  const breaker = createCircuitBreaker(limits);
  for (let at = 0; at < 5_000; at += 1_000) ticketOf(breaker, at).failed(at, overloaded);
  return breaker;
}

describe("a circuit breaker", () => {
  it("opens for fifteen seconds after five failures in thirty, for this key alone", () => {
    const breaker = opened();
    expect(breaker.admit("a", 5_000)).toEqual({ waitMs: 14_000 });
    expect(breaker.admit("b", 5_000)).toHaveProperty("ticket");
  });

  it("stays closed when five failures take longer, or an answer comes between", () => {
    const breaker = createCircuitBreaker(limits);
    for (let at = 0; at < 80_000; at += 8_000) ticketOf(breaker, at).failed(at, overloaded);
    expect(breaker.pauseMs("a", 80_000)).toBe(0);
    for (let at = 100_000; at < 104_000; at += 1_000) ticketOf(breaker, at).failed(at, overloaded);
    ticketOf(breaker, 104_000).answered(104_000);
    ticketOf(breaker, 105_000).failed(105_000, overloaded);
    expect(breaker.pauseMs("a", 105_000)).toBe(0);
  });

  it("lets one probe through, whose answer closes the circuit", () => {
    const breaker = opened();
    const probe = ticketOf(breaker, 19_000);
    expect(breaker.admit("a", 19_000)).toEqual({ waitMs: 3_000 });
    probe.answered(20_000);
    expect(breaker.admit("a", 20_000)).toHaveProperty("ticket");
    probe.failed(21_000, overloaded);
    expect(breaker.pauseMs("a", 21_000)).toBe(0);
  });

  it("doubles its time with each probe that fails, to two minutes", () => {
    const breaker = opened();
    const pauses: number[] = [];
    for (let at = 19_000; pauses.length < 5; ) {
      ticketOf(breaker, at).failed(at, overloaded);
      pauses.push(breaker.pauseMs("a", at));
      at += pauses.at(-1) ?? 0;
    }
    expect(pauses).toEqual([30_000, 60_000, 120_000, 120_000, 120_000]);
  });

  it("gives the probe to the next caller when a person stopped it", () => {
    const breaker = opened();
    const stopped = ticketOf(breaker, 19_000);
    stopped.left();
    const probe = ticketOf(breaker, 19_500);
    stopped.left();
    expect(breaker.admit("a", 19_600)).toEqual({ waitMs: 3_000 });
    probe.answered(20_000);
    expect(breaker.pauseMs("a", 20_000)).toBe(0);
  });

  it("gives the probe to the next caller when it has no result after two minutes", () => {
    const breaker = opened();
    ticketOf(breaker, 19_000);
    expect(breaker.pauseMs("a", 138_999)).toBe(3_000);
    ticketOf(breaker, 139_000).answered(139_500);
    expect(breaker.pauseMs("a", 139_500)).toBe(0);
  });

  it("is neither opened earlier nor closed by calls that began before it opened", () => {
    const breaker = createCircuitBreaker(limits);
    const early = Array.from({ length: 7 }, () => ticketOf(breaker, 0));
    for (const ticket of early.slice(0, 5)) ticket.failed(100, overloaded);
    early[5]?.failed(10_000, overloaded);
    early[6]?.answered(10_000);
    expect(breaker.pauseMs("a", 10_000)).toBe(5_100);
  });

  it.each<[ErrorCode, boolean]>([
    ["MODEL_AUTH", false],
    ["MODEL_BAD_REQUEST", false],
    ["MODEL_QUOTA_EXHAUSTED", false],
    ["CONTEXT_OVERFLOW", false],
    ["MODEL_REFUSED", false],
  ])("takes %s for an answer: the vendor is well", (code, retryable) => {
    const breaker = opened();
    ticketOf(breaker, 19_000).failed(19_500, failureOf(code, retryable));
    expect(breaker.pauseMs("a", 19_500)).toBe(0);
  });

  it.each<ErrorCode>(["MODEL_RATE_LIMITED", "MODEL_TIMEOUT", "MODEL_UNREACHABLE", "MODEL_STREAM_BROKEN", "MODEL_PROTOCOL"])(
    "counts %s",
    (code) => {
      const breaker = createCircuitBreaker(limits);
      for (let at = 0; at < 5; at++) ticketOf(breaker, at).failed(at, failureOf(code));
      expect(breaker.pauseMs("a", 5)).toBeGreaterThan(0);
    },
  );

  it("counts a failure whose code only another version knows", () => {
    const breaker = createCircuitBreaker(limits);
    for (let at = 0; at < 5; at++) ticketOf(breaker, at).failed(at, failureOf("MODEL_OF_TOMORROW" as ErrorCode));
    expect(breaker.pauseMs("a", 5)).toBeGreaterThan(0);
  });

  it("remembers a bounded number of circuits", () => {
    const breaker = createCircuitBreaker({ ...limits, failuresMax: 1 });
    for (const key of ["a", "b", "c", "d"]) ticketOf(breaker, 0, key).failed(0, overloaded);
    expect(["a", "b", "c", "d"].map((key) => breaker.pauseMs(key, 0))).toEqual([0, 15_000, 15_000, 15_000]);
  });
});
