import { describe, expect, it } from "vitest";
import {
  AgentError,
  type AgentSession,
  type CallGuardLimits,
  createAgent,
  createCallGuard,
  createSession,
  type ErrorCode,
  execute,
  type Fact,
} from "../src/index.ts";
import { memoryStore, scripted } from "../src/memory/index.ts";
import { manualClock } from "../src/memory/manual-clock.ts";
import { seededIds } from "../src/memory/seeded-ids.ts";
import { calm, world } from "./harness.ts";

interface Storm {
  readonly sessions: number;
  /** How many scopes share the sessions: each has circuits of its own. */
  readonly scopes: number;
  readonly error: () => AgentError;
  /** False: each caller that got the failure gives up. Default true. */
  readonly insists?: boolean;
  readonly limits?: Partial<CallGuardLimits>;
}

const stormMs = 60_000;
const stepMs = 1_000;

const busy = (retryAfterMs?: number, code: ErrorCode = "MODEL_OVERLOADED"): AgentError =>
  new AgentError(code, { message: "The vendor said no.", retryAfterMs });

/** Every call fails for a minute; each caller that got that tries again ten seconds later. Nothing else happens, and the test alone moves the time. */
async function storm({ sessions, scopes, error, insists = true, limits }: Storm) {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const beginning = clock.monotonic();
  const isOver = (): boolean => clock.monotonic() - beginning >= stormMs;
  const provider = scripted((() => (isOver() ? { text: "ok" } : { error: error() })) as never);
  const agent = createAgent({ name: "stormy", provider });
  const callGuard = createCallGuard({ clock, ...limits });
  const seed = seededIds(7);
  let calls = 0;
  let open = 0;
  const begin = (session: AgentSession): void => {
    calls++;
    open++;
    void execute(session, "Hello.")
      .result()
      .then(({ status }) => {
        open--;
        if (insists && status === "error" && !isOver()) clock.after(10_000, () => begin(session));
      });
  };
  const handles = Array.from({ length: sessions }, (_, n) => {
    const access = { user: "u", scope: `scope${n % scopes}` };
    return createSession({ agent, id: `s${n}`, store, clock, callGuard, access, ids: seededIds(Math.floor(seed.random() * 1e9)) });
  });
  for (const session of handles) begin(session);
  for (let passedMs = 0; passedMs < stormMs + 65_000; passedMs += stepMs) {
    await calm();
    clock.advance(stepMs);
  }
  await calm();
  const logs = await Promise.all(handles.map(({ id }, n) => store.log.read({ scope: `scope${n % scopes}`, session: id })));
  const facts: readonly Fact[] = logs.flat();
  const waits = facts.flatMap((fact) => (fact.type === "wait.scheduled" ? [{ waitMs: fact.until - fact.at, until: fact.until }] : []));
  return {
    calls,
    open,
    waits,
    requests: provider.requests.length,
    ends: facts.filter(({ type }) => type === "run.finished") as Extract<Fact, { type: "run.finished" }>[],
  };
}

/** The largest part of all retries that falls due within any stretch of 100 ms. */
function worstShare(waits: readonly { readonly until: number }[]): number {
  const dates = waits.map(({ until }) => until).sort((a, b) => a - b);
  let from = 0;
  const counts = dates.map((date, at) => {
    while ((dates[from] ?? 0) <= date - 100) from++;
    return at - from + 1;
  });
  return Math.max(0, ...counts) / dates.length;
}

const longest = (waits: readonly { readonly waitMs: number }[]): number => Math.max(0, ...waits.map(({ waitMs }) => waitMs));

describe("F4: a storm of 200 sessions whose vendor fails for a minute", () => {
  const storms = new Map<string, ReturnType<typeof storm>>();
  const stormOf = (scopes: number, more: Partial<Storm> = {}): ReturnType<typeof storm> => {
    const key = JSON.stringify([scopes, more.insists]);
    const known = storms.get(key) ?? storm({ sessions: 200, scopes, error: () => busy(), ...more });
    storms.set(key, known);
    return known;
  };

  it.each<[string, number, Partial<Storm>]>([
    ["of people who insist", 200, {}],
    ["of people who give up", 200, { insists: false }],
    ["of people who give up, told to come again in a second", 200, { insists: false, error: () => busy(1_000) }],
    ["of one scope, whose circuit opens", 1, {}],
  ])("%s, makes at most a tenth more calls and ten, apart from each other, and ends", async (_, scopes, more) => {
    const { calls, open, waits, requests, ends } = await (more.error
      ? storm({ sessions: 200, scopes, error: busy, ...more })
      : stormOf(scopes, more));
    expect(calls).toBeGreaterThanOrEqual(200);
    expect(waits.length).toBeGreaterThanOrEqual(20);
    expect(requests).toBeLessThanOrEqual(1.1 * calls + 10);
    expect(worstShare(waits)).toBeLessThanOrEqual(0.05);
    expect(longest(waits)).toBeLessThanOrEqual(60_000);
    expect([open, ends.length]).toEqual([0, calls]);
    for (const { failure } of ends) expect(["MODEL_OVERLOADED", "MODEL_CIRCUIT_OPEN", undefined]).toContain(failure?.code);
  });

  it("leaves a vendor in peace whose circuit is open", async () => {
    const many = await stormOf(200);
    const one = await stormOf(1);
    expect(one.requests).toBeLessThan(many.requests / 3);
  });

  it("keeps its retries apart even where the budget bounds nothing", async () => {
    const limits = { retriesSpare: 1e6, failuresMax: 1e6 };
    const { waits, requests, calls } = await storm({ sessions: 100, scopes: 100, error: () => busy(), limits });
    expect(requests).toBeGreaterThan(2 * calls);
    expect(worstShare(waits)).toBeLessThanOrEqual(0.05);
    expect(longest(waits)).toBeLessThanOrEqual(60_000);
  });
});

describe("F4: the wait that a vendor asks for", () => {
  it.each([
    ["0 seconds", 0, 0],
    ["1 second", 1_000, 1_000],
    ["-5 seconds", -5_000, 0],
    ["no number", Number.NaN, 0],
    ["55 seconds", 55_000, 55_000],
  ])("of %s is kept, with jitter on top and at most a minute in all", async (_, retryAfterMs, leastMs) => {
    const error = () => busy(retryAfterMs, "MODEL_RATE_LIMITED");
    const { waits } = await storm({ sessions: 20, scopes: 20, error, limits: { failuresMax: 1e6 } });
    expect(waits.length).toBeGreaterThan(9);
    for (const { waitMs } of waits) {
      expect(waitMs).toBeGreaterThanOrEqual(leastMs);
      expect(waitMs).toBeLessThanOrEqual(60_000);
    }
    expect(new Set(waits.map(({ waitMs }) => waitMs)).size).toBeGreaterThan(waits.length / 2);
  });

  it.each([56_000, 1e12, Number.POSITIVE_INFINITY])("of %s ms is too long: the call is not made again", async (retryAfterMs) => {
    const error = () => busy(retryAfterMs, "MODEL_RATE_LIMITED");
    const { waits, requests, calls } = await storm({ sessions: 5, scopes: 5, error, limits: { failuresMax: 1e6 } });
    expect([waits.length, requests]).toEqual([0, calls]);
  });
});

describe("a process whose retries are used up", () => {
  it("fails runs with the vendor's own error and the reason, and keeps what was shown", async () => {
    const clock = manualClock();
    const callGuard = createCallGuard({ clock, retriesSpare: 0 });
    const turn = { text: "Half a", error: busy(undefined, "MODEL_RATE_LIMITED") };
    const { session, facts } = world([turn], { session: { clock, callGuard } });
    const { status, error } = await execute(session, "x").result();
    expect([status, error?.code, error?.message]).toEqual([
      "error",
      "MODEL_RATE_LIMITED",
      "The vendor said no. The call was not retried: the retry budget of this process is exhausted.",
    ]);
    const last = (await facts()).find((fact) => fact.type === "model.finished");
    expect(last).toMatchObject({ stopReason: "error", failure: { retryable: false }, calls: [] });
  });

  it("may retry again after ten minutes", async () => {
    const clock = manualClock();
    const callGuard = createCallGuard({ clock, retriesSpare: 1, retryShare: 0, failuresMax: 99 });
    const { session, provider } = world((() => ({ error: "MODEL_OVERLOADED" })) as never, {
      session: { clock, callGuard },
      limits: { attemptsMax: 2 },
    });
    const requests = async (): Promise<number> => {
      const before = provider.requests.length;
      const result = execute(session, "x").result();
      for (let round = 0; round < 10; round++) {
        await calm();
        clock.advance(500);
      }
      await result;
      return provider.requests.length - before;
    };
    expect([await requests(), await requests()]).toEqual([2, 1]);
    clock.advance(600_000);
    expect(await requests()).toBe(2);
  });
});

describe("a model that has failed five times in half a minute", () => {
  const script = { fails: true };
  const failing = (attemptsMax: number) => {
    script.fails = true;
    return world((() => (script.fails ? { error: "MODEL_OVERLOADED" } : { text: "ok" })) as never, { limits: { attemptsMax } });
  };
  const pass = async (clock: { advance(ms: number): void }, ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 500) {
      await calm();
      clock.advance(500);
    }
    await calm();
  };

  it("is not called while its circuit is open: a call waits for a short time and then succeeds", async () => {
    const { session, clock, provider, facts } = failing(1);
    for (let call = 0; call < 5; call++) await execute(session, "x").result();
    script.fails = false;
    clock.advance(5_000);
    const patient = world((() => ({ text: "ok" })) as never, {}); // Another clock is another process.
    expect((await execute(patient.session, "x").result()).text).toBe("ok");
    const refused = await execute(session, "x").result();
    expect(refused.error).toMatchObject({ code: "MODEL_CIRCUIT_OPEN", retryable: true, retryAfterMs: 10_000 });
    expect(provider.requests).toHaveLength(5);
    await pass(clock, 10_000);
    expect((await execute(session, "x").result()).text).toBe("ok");
    expect((await facts()).filter((fact) => fact.type === "model.failed").map(({ failure }) => failure.code)).toEqual([
      ...Array.from({ length: 5 }, () => "MODEL_OVERLOADED"),
      "MODEL_CIRCUIT_OPEN",
    ]);
  });

  it("is called again by itself once the circuit lets one call through", async () => {
    const { session, clock, provider } = failing(3);
    const first = execute(session, "x").result();
    await pass(clock, 10_000);
    await first;
    const second = execute(session, "y").result();
    await pass(clock, 3_000);
    expect(provider.requests).toHaveLength(5);
    script.fails = false;
    await pass(clock, 20_000);
    expect((await second).text).toBe("ok");
    expect(provider.requests).toHaveLength(6);
  });

  it("fails at once, and names the time, if the circuit stays open for longer", async () => {
    const { session, clock } = failing(1);
    for (let call = 0; call < 5; call++) await execute(session, "x").result();
    clock.advance(15_000);
    await execute(session, "x").result();
    const refused = execute(session, "x").result();
    expect((await refused).error).toMatchObject({ code: "MODEL_CIRCUIT_OPEN", retryAfterMs: 30_000 });
  });

  it("keeps its circuit to the scope and the model", async () => {
    const clock = manualClock();
    const store = memoryStore({ clock });
    const provider = scripted((({ model }: { model: string }) =>
      model === "bad" ? { error: "MODEL_OVERLOADED" } : { text: "ok" }) as never);
    const agent = createAgent({ name: "a", provider, limits: { attemptsMax: 1 } });
    const session = (scope: string) => createSession({ agent, store, clock, access: { user: "u", scope }, ids: seededIds(scope.length) });
    const one = session("one");
    for (let call = 0; call < 5; call++) await execute(one, "x", { model: "bad" }).result();
    expect((await execute(one, "x", { model: "bad" }).result()).error?.code).toBe("MODEL_CIRCUIT_OPEN");
    expect((await execute(one, "x", { model: "good" }).result()).text).toBe("ok");
    expect((await execute(session("other"), "x", { model: "bad" }).result()).error?.code).toBe("MODEL_OVERLOADED");
  });
});
