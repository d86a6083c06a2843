import { describe, expect, it } from "vitest";
import {
  createAgent,
  createCallGuard,
  createSession,
  execute,
  type ModelQuestion,
  type ModelRef,
  type ResolveModel,
} from "../src/index.ts";
import { manualClock, memoryStore, type ScriptedStep, scripted } from "../src/memory/index.ts";
import { calm } from "./harness.ts";

const overloaded: ScriptedStep = { error: "MODEL_OVERLOADED" };

const own = (steps: readonly ScriptedStep[], keyId = "k1"): ModelRef => ({
  provider: scripted(steps, { name: "own" }),
  model: "own-1",
  keyOwner: "user",
  keyId,
});

/** Sessions of one process whose models a deployment chooses. */
function deployed(resolveModel: ResolveModel, platform: readonly ScriptedStep[] = [{ text: "From the platform." }]) {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const callGuard = createCallGuard({ clock });
  const paid = scripted(platform, { name: "paid" });
  const next = scripted([{ text: "From the next of the chain." }], { name: "next" });
  const chain = [paid, next].map((provider): ModelRef => ({ provider, model: `${provider.name}-1`, keyOwner: "platform" }));
  const agent = createAgent({ name: "tester", model: chain, limits: { attemptsMax: 1 }, crossings: [{ from: "user", to: "platform" }] });
  let count = 0;
  const run = async (user: string) => {
    const id = `s${++count}`;
    const session = createSession({ agent, id, store, clock, callGuard, resolveModel, access: { user, scope: "team" } });
    const stream = execute(session, "x");
    for (let round = 0; round < 6; round++) {
      await calm();
      clock.advance(1_000);
    }
    const result = await stream.result();
    const facts = await store.log.read({ scope: "team", session: id });
    const started = facts.flatMap((fact) =>
      fact.type === "model.started" ? [{ provider: fact.provider, model: fact.model, link: fact.link, keyOwner: fact.keyOwner }] : [],
    );
    return { result, started };
  };
  return { run, paid, next, clock };
}

describe("a model that is given in place of the agent's", () => {
  it("A54: is asked for before each call with the user, the session and what the agent would call, and its owner is in the fact", async () => {
    const asked: ModelQuestion[] = [];
    const { run, paid } = deployed((question) => {
      asked.push(question);
      return question.access.user === "anne" ? own([{ text: "From Anne's key." }]) : undefined;
    });
    const [anne, ben] = [await run("anne"), await run("ben")];
    expect(anne.result.text).toBe("From Anne's key.");
    expect(anne.started).toEqual([{ provider: "own", model: "own-1", link: undefined, keyOwner: "user" }]);
    expect(anne.result.messages.at(-1)).toMatchObject({ provider: "own", model: "own-1" });
    expect(ben.result.text).toBe("From the platform.");
    expect(ben.started).toEqual([{ provider: "paid", model: "paid-1", link: 0, keyOwner: "platform" }]);
    expect(paid.requests).toHaveLength(1);
    const [first] = asked;
    expect(first).toMatchObject({ access: { user: "anne", scope: "team" }, sessionId: "s1", agent: "tester", model: { model: "paid-1" } });
  });

  it("A54: is asked for again by the next attempt, so that a changed key counts from then on", async () => {
    const refs = [own([overloaded]), own([{ text: "With the new key." }], "k2")];
    const clock = manualClock();
    const store = memoryStore({ clock });
    const agent = createAgent({ name: "tester", provider: scripted([]), limits: { attemptsMax: 2 } });
    const session = createSession({ agent, store, clock, callGuard: createCallGuard({ clock }), resolveModel: async () => refs.shift() });
    const stream = execute(session, "x");
    for (let round = 0; round < 5; round++) {
      await calm();
      clock.advance(10_000);
    }
    expect((await stream.result()).text).toBe("With the new key.");
  });

  it("A54: has no fallback, not even where the agent allows a chain to pass from users' keys to the platform's", async () => {
    const { run, paid, next } = deployed(() => own([overloaded]));
    const { result, started } = await run("anne");
    expect(result.error?.code).toBe("MODEL_OVERLOADED");
    expect(started).toHaveLength(1);
    expect([paid.requests, next.requests]).toEqual([[], []]);
  });

  it("ends the run where asking for it fails, and no model is called", async () => {
    const { run, paid, next } = deployed(() => {
      throw new TypeError("a bug of the deployment");
    });
    const { result } = await run("anne");
    expect(result.error).toMatchObject({ code: "HOOK_FAILED", message: "The function `resolveModel` failed." });
    const wrong = deployed((() => ({ provider: {}, model: "" })) as unknown as ResolveModel);
    expect((await wrong.run("anne")).result.error?.code).toBe("CONFIG_INVALID");
    expect([paid.requests, next.requests, wrong.paid.requests]).toEqual([[], [], []]);
  });
});

describe("the circuit of a user's key", () => {
  const broken: ScriptedStep = { error: "MODEL_UNREACHABLE" };

  it("opens for that key alone: not for another key, not for another user, and not for the platform", async () => {
    const keys: Readonly<Record<string, () => ModelRef | undefined>> = {
      anne: () => own([broken]),
      second: () => own([{ text: "ok" }], "k2"),
      ben: () => own([{ text: "ok" }]),
    };
    let user = "anne";
    const { run } = deployed(() => (user === "carl" ? undefined : keys[user]?.()));
    for (let call = 0; call < 5; call++) expect((await run("anne")).result.error?.code).toBe("MODEL_UNREACHABLE");
    expect((await run("anne")).result.error?.code).toBe("MODEL_CIRCUIT_OPEN");
    user = "second";
    expect((await run("anne")).result.text).toBe("ok");
    user = "ben";
    expect((await run("ben")).result.text).toBe("ok");
    user = "carl";
    expect((await run("carl")).result.text).toBe("From the platform.");
  });

  it("uses up neither the circuits nor the retries of the platform", () => {
    const clock = manualClock();
    const guard = createCallGuard({ clock, circuitsMax: 2, failuresMax: 1, retriesSpare: 1, retryShare: 0 });
    const target = { scope: "team", provider: "p", model: "m" };
    const failure = { code: "MODEL_UNREACHABLE", message: "Gone.", retryable: true } as const;
    const fail = (key?: string, mayRetry = true) => {
      const admitted = guard.admit({ ...target, ...(key === undefined ? {} : { key }) }, 1);
      return "call" in admitted ? admitted.call.judge(failure, mayRetry) : admitted.refused;
    };
    fail(undefined, false);
    for (const key of ["a", "b", "c", "d"]) fail(key);
    expect(fail().code).toBe("MODEL_CIRCUIT_OPEN");
    clock.advance(20_000);
    expect(fail("e").message).toContain("retry budget");
    const other = guard.admit({ ...target, model: "other" }, 1);
    if (!("call" in other)) throw new Error("The circuit of another model is open.");
    expect(other.call.judge(failure, true).message).toBe("Gone.");
  });
});
