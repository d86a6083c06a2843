import { describe, expect, it } from "vitest";
import { type ErrorCode, errorTable, type Failure } from "../../errors.ts";
import type { DurableBody } from "../event.ts";
import { eventsOf } from "../events-of.ts";
import type { Fact, FactBody } from "../fact.ts";
import { defaultLimits } from "../facts/run-limits.ts";
import { fold } from "../fold.ts";
import { emptyState, type State } from "../state.ts";
import { transcriptOf } from "../transcript.ts";
import { type FailedAttempt, linkAfter, type ModelChain } from "./next-model-of-chain.ts";

const links = ["a", "b", "c"].map((name) => ({ provider: name, model: `${name}-1`, keyOwner: "platform" as const }));
const chain: ModelChain = { links };

const failureOf = (code: ErrorCode, more: Partial<Failure> = {}): Failure => ({
  code,
  message: `${code}.`,
  retryable: errorTable[code].retryable,
  ...more,
});

const failed = (failure: Failure, more: Partial<FailedAttempt> = {}): FailedAttempt => ({
  failure,
  link: 0,
  hasSpoken: false,
  isCommitted: false,
  attemptsLeft: 0,
  ...more,
});

/** What a model of the chain may do. */
const outcomes = {
  answers: undefined,
  "is overloaded": failureOf("MODEL_OVERLOADED"),
  "refuses the key": failureOf("MODEL_AUTH"),
  "has no quota until tomorrow": failureOf("MODEL_QUOTA_EXHAUSTED", { retryAfterMs: 86_400_000 }),
  "says what nobody understands": failureOf("MODEL_PROTOCOL"),
} as const;
type Outcome = keyof typeof outcomes;
const names = Object.keys(outcomes) as Outcome[];

/** A log that grows by facts as the driver would write them, with the events of its watchers. */
function ledger() {
  let state: State = emptyState;
  const published: DurableBody[] = [];
  return {
    published,
    get state() {
      return state;
    },
    add(body: FactBody) {
      const fact = { ...body, seq: state.seq + 1, at: 1_000 + state.seq, v: 1 } as Fact;
      published.push(...eventsOf(state, fact));
      state = fold(state, fact);
    },
  };
}

/** Walks the chain by the rule alone, one attempt of each model, and records it. `retryable` of the fact decides whether an attempt follows. */
function walk(plan: readonly Outcome[], hasSpoken: boolean) {
  const log = ledger();
  const who = { runId: "r", turn: 1 };
  log.add({ type: "session.opened", agent: "x" });
  log.add({ type: "input.accepted", inputId: "i", runId: "r", mode: "enqueue", message: { role: "user", content: "Hello." } });
  const run = { agent: "x", agentDigest: "", provider: "a", model: "a-1", tools: {}, limits: { ...defaultLimits, attemptsMax: 9 } };
  log.add({ type: "run.started", runId: "r", ...run });
  let attempt = 0;
  for (let link: number | undefined = 0; link !== undefined; ) {
    const { provider, model } = links[link] as (typeof links)[number];
    const failure: Failure | undefined = outcomes[plan[link] as Outcome];
    log.add({ type: "model.started", ...who, attempt: ++attempt, provider, model, requestDigest: "" });
    if (!failure) {
      const message = { role: "assistant", content: [{ type: "text", text: `I am ${provider}.` }], stopReason: "stop", provider } as const;
      log.add({ type: "model.finished", ...who, attempt, message, stopReason: "stop", calls: [], timings: { totalMs: 1 } });
      break;
    }
    link = linkAfter(failed(failure, { link, hasSpoken }), chain);
    const { retryAfterMs: _, ...rest } = failure;
    log.add({ type: "model.failed", ...who, attempt, failure: { ...rest, retryable: link !== undefined } });
  }
  return log;
}

/** The expected walk of a chain, without the rule: the models called, and the one that answers. */
function expected(plan: readonly Outcome[], hasSpoken: boolean): { readonly asked: string[]; readonly answers?: string } {
  const asked: string[] = [];
  for (const [at, { provider }] of links.entries()) {
    asked.push(provider);
    if (plan[at] === "answers") return { asked, answers: provider };
    if (plan[at] === "refuses the key" || (plan[at] === "says what nobody understands" && hasSpoken)) break;
  }
  return { asked };
}

describe("F10: a chain of three models", () => {
  const plans = names.flatMap((a) => names.flatMap((b) => names.map((c) => [a, b, c] as const)));
  const all = [false, true].flatMap((hasSpoken) => plans.map((plan) => [plan, hasSpoken] as const));

  it("has 250 courses", () => {
    expect(all).toHaveLength(250);
  });

  it("is asked in order and as far as the outcomes allow, and answers by one model, in all 250 courses", () => {
    for (const [plan, hasSpoken] of all) {
      const { asked, answers } = expected(plan, hasSpoken);
      const { published, state } = walk(plan, hasSpoken);
      const written = transcriptOf(state).messages.filter(({ role }) => role === "assistant");
      expect([plan, hasSpoken, written.map((message) => message.role === "assistant" && message.provider)]).toEqual([
        plan,
        hasSpoken,
        answers === undefined ? [] : [answers],
      ]);
      expect(published.filter(({ type }) => type === "message_start" || type === "attempt_discarded").map(({ type }) => type)).toEqual([
        "message_start",
        ...asked.flatMap((provider) => (provider === answers ? ["message_start"] : ["message_start", "attempt_discarded"])),
      ]);
      expect(published.flatMap((event) => (event.type === "attempt_discarded" ? [event.willRetry] : []))).toEqual(
        asked.slice(0, answers === undefined ? asked.length : -1).map((_, at) => at < asked.length - 1),
      );
    }
  });
});

describe("F10: after a failed attempt", () => {
  const stops: ErrorCode[] = [
    "MODEL_AUTH",
    "MODEL_KEY_MISSING",
    "MODEL_QUOTA_EXHAUSTED",
    "MODEL_BAD_REQUEST",
    "MODEL_NOT_FOUND",
    "MODEL_UNSUPPORTED",
    "MODEL_REFUSED",
    "CONTEXT_OVERFLOW",
    "RUN_ABORTED",
    "CONFIG_INVALID",
    "INTERNAL",
  ];
  it.each(stops)("with %s no other model is asked, nor the same one", (code) => {
    expect(linkAfter(failed(failureOf(code), { attemptsLeft: 2 }), chain)).toBeUndefined();
  });

  it.each<ErrorCode>(["MODEL_RATE_LIMITED", "MODEL_OVERLOADED", "MODEL_TIMEOUT", "MODEL_UNREACHABLE", "MODEL_STREAM_BROKEN"])(
    "with %s the same model is asked as often as it may, then the next one, whatever was shown",
    (code) => {
      for (const hasSpoken of [false, true]) {
        expect(linkAfter(failed(failureOf(code), { hasSpoken, attemptsLeft: 1 }), chain)).toBe(0);
        expect(linkAfter(failed(failureOf(code), { hasSpoken }), chain)).toBe(1);
        expect(linkAfter(failed(failureOf(code), { hasSpoken, link: 2 }), chain)).toBeUndefined();
      }
    },
  );

  it("that was committed, in any part, nothing follows", () => {
    for (const code of Object.keys(errorTable) as ErrorCode[])
      expect(linkAfter(failed(failureOf(code), { isCommitted: true, attemptsLeft: 2 }), chain)).toBeUndefined();
  });

  it("that could not be decoded after its first text, only the same model is called", () => {
    const garbled = failureOf("MODEL_PROTOCOL");
    expect(linkAfter(failed(garbled, { hasSpoken: true, attemptsLeft: 1 }), chain)).toBe(0);
    expect(linkAfter(failed(garbled, { hasSpoken: true }), chain)).toBeUndefined();
  });

  it.each<[string, Failure]>([
    ["a quota that comes back tomorrow", failureOf("MODEL_QUOTA_EXHAUSTED", { retryAfterMs: 86_400_000 })],
    ["a wait of more than a minute", failureOf("MODEL_OVERLOADED", { retryAfterMs: 61_000 })],
    ["an open circuit", failureOf("MODEL_CIRCUIT_OPEN", { retryAfterMs: 9_000 })],
  ])("because of %s the next model is asked at once", (_, failure) => {
    expect(linkAfter(failed(failure, { attemptsLeft: 2 }), chain)).toBe(1);
  });

  it("because of an open circuit, the chain waits for the last model if the wait is short", () => {
    const open = (retryAfterMs: number) => failed(failureOf("MODEL_CIRCUIT_OPEN", { retryAfterMs }), { link: 2, attemptsLeft: 1 });
    expect([linkAfter(open(15_000), chain), linkAfter(open(15_001), chain)]).toEqual([2, undefined]);
  });

  it("that may not be repeated, such as one behind a wrong certificate, nothing follows", () => {
    expect(linkAfter(failed(failureOf("MODEL_UNREACHABLE", { retryable: false }), { attemptsLeft: 2 }), chain)).toBeUndefined();
  });

  it("of a process that died the same model is asked", () => {
    for (const code of ["CRASHED", "HANDED_OVER"] as const) {
      expect(linkAfter(failed(failureOf(code), { attemptsLeft: 1 }), chain)).toBe(0);
      expect(linkAfter(failed(failureOf(code)), chain)).toBeUndefined();
    }
  });

  it("a chain stays with the owner of the key, unless the scope allows the change", () => {
    const [a, b, c] = links as [(typeof links)[0], (typeof links)[0], (typeof links)[0]];
    const mixed: ModelChain = { links: [{ ...a, keyOwner: "user" }, b, { ...c, keyOwner: "user" }] };
    const overloaded = failureOf("MODEL_OVERLOADED");
    expect(linkAfter(failed(overloaded), mixed)).toBe(2);
    expect(linkAfter(failed(overloaded), { ...mixed, crossings: [{ from: "user", to: "platform" }] })).toBe(1);
    expect(linkAfter(failed(overloaded, { link: 1 }), mixed)).toBeUndefined();
    expect(linkAfter(failed(overloaded, { link: 1 }), { ...mixed, crossings: [{ from: "user", to: "platform" }] })).toBeUndefined();
    expect(linkAfter(failed(overloaded, { link: 1 }), { ...mixed, crossings: [{ from: "platform", to: "user" }] })).toBe(2);
  });
});
