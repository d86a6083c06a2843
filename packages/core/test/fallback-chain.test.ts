import { describe, expect, it } from "vitest";
import {
  AgentError,
  type AgentSettings,
  type CallGuard,
  createAgent,
  createCallGuard,
  createSession,
  execute,
  type Fact,
  type KeyOwner,
  type ModelRef,
  resume,
} from "../src/index.ts";
import { manualClock, memoryStore, type ScriptedProvider, type ScriptedStep, scripted } from "../src/memory/index.ts";
import { calm, eventsOf, ofType } from "./harness.ts";

interface Link {
  readonly name: string;
  readonly steps: readonly ScriptedStep[];
  readonly keyOwner?: KeyOwner;
}

/** A session whose agent has a chain of scripted models, under a clock that only the test moves. */
function chained(links: readonly Link[], more: Partial<AgentSettings> = {}) {
  const providers = new Map<string, ScriptedProvider>(links.map(({ name, steps }) => [name, scripted(steps, { name })]));
  const model = links.map(
    ({ name, keyOwner = "platform" }): ModelRef => ({ provider: providers.get(name) as ScriptedProvider, model: `${name}-1`, keyOwner }),
  );
  const agent = createAgent({ name: "tester", model, ...more });
  const clock = manualClock();
  const store = memoryStore({ clock });
  const open = (node: string) => createSession({ agent, id: "s1", store, clock, node });
  const session = open("one");
  const asked = (): readonly (readonly [string, number])[] => [...providers].map(([name, { requests }]) => [name, requests.length]);
  const facts = (): Promise<readonly Fact[]> => store.log.read({ scope: "local", session: "s1" });
  const past = async (): Promise<void> => {
    for (let round = 0; round < 20; round++) {
      await calm();
      clock.advance(10_000);
    }
    await calm();
  };
  return { agent, session, open, asked, facts, past, clock, store };
}

const overloaded: ScriptedStep = { error: "MODEL_OVERLOADED" };

describe("a chain of models", () => {
  it("is asked in its order: the first as often as it may, then the next at once", async () => {
    const { session, asked, facts, past } = chained(
      [
        { name: "first", steps: [overloaded, overloaded] },
        { name: "second", steps: [{ text: "From the second." }] },
      ],
      { limits: { attemptsMax: 2 } },
    );
    const stream = execute(session, "x");
    await past();
    const result = await stream.result();
    expect([result.status, result.text, asked()]).toEqual([
      "completed",
      "From the second.",
      [
        ["first", 2],
        ["second", 1],
      ],
    ]);
    const kept = await facts();
    expect(kept.find(({ type }) => type === "run.started")).toMatchObject({
      chain: {
        links: [
          { provider: "first", model: "first-1", keyOwner: "platform" },
          { provider: "second", model: "second-1" },
        ],
      },
    });
    const started = kept.flatMap((fact) => (fact.type === "model.started" ? [[fact.provider, fact.model, fact.link, fact.attempt]] : []));
    expect(started).toEqual([
      ["first", "first-1", 0, 1],
      ["first", "first-1", 0, 2],
      ["second", "second-1", 1, 3],
    ]);
    expect(kept.flatMap((fact) => (fact.type === "model.failed" ? [fact.next?.provider] : []))).toEqual([undefined, "second"]);
    expect(kept.filter(({ type }) => type === "wait.scheduled")).toHaveLength(1);
    expect(result.messages.at(-1)).toMatchObject({ role: "assistant", provider: "second", model: "second-1" });
  });

  it("gives every model its own attempts, and fails with the error of the last", async () => {
    const { session, asked, past } = chained(
      [
        { name: "first", steps: [overloaded, overloaded] },
        { name: "second", steps: [overloaded, { error: "MODEL_TIMEOUT" }] },
      ],
      { limits: { attemptsMax: 2 } },
    );
    const stream = execute(session, "x");
    await past();
    expect((await stream.result()).error?.code).toBe("MODEL_TIMEOUT");
    expect(asked()).toEqual([
      ["first", 2],
      ["second", 2],
    ]);
    const willRetry = ofType(await eventsOf(stream), "attempt_discarded").map((event) => event.willRetry);
    expect(willRetry).toEqual([true, true, true, false]);
  });

  it("names every attempt in the error where no model answered, and the model that is asked next in that of each attempt", async () => {
    const { session, past } = chained(
      [
        { name: "first", steps: [overloaded, overloaded] },
        { name: "second", steps: [overloaded, { error: "MODEL_TIMEOUT" }] },
      ],
      { limits: { attemptsMax: 2 } },
    );
    const stream = execute(session, "x");
    await past();
    const { error } = await stream.result();
    expect(error?.message).toContain(
      "(first first-1: MODEL_OVERLOADED, MODEL_OVERLOADED; second second-1: MODEL_OVERLOADED, MODEL_TIMEOUT)",
    );
    const reasons = ofType(await eventsOf(stream), "attempt_discarded").map(({ reason }) => reason.includes("second second-1 is asked"));
    expect(reasons).toEqual([false, true, false, false]);
  });

  it("is not stopped by a spent retry budget: the next model is asked, and its own error names what is spent", async () => {
    const clock = manualClock();
    const [first, second] = [
      scripted([overloaded], { name: "first" }),
      scripted([{ text: "From the second." }, overloaded], { name: "second" }),
    ];
    const model = [first, second].map((provider): ModelRef => ({ provider, model: "m", keyOwner: "platform" }));
    const agent = createAgent({ name: "tester", model });
    const callGuard = createCallGuard({ clock, retriesSpare: 0, retryShare: 0 });
    const result = await execute(createSession({ agent, clock, callGuard }), "x").result();
    expect([result.text, first.requests.length, second.requests.length]).toEqual(["From the second.", 1, 1]);
    const alone = createAgent({ name: "tester", model: [model[1] as ModelRef] });
    expect((await execute(createSession({ agent: alone, clock, callGuard }), "x").result()).error?.message).toContain("retry budget");
  });

  it("lets its guard look at a call before it is recorded, with whether another model follows", async () => {
    const clock = manualClock();
    const plain = createCallGuard({ clock });
    const looked: (readonly [string, boolean | undefined])[] = [];
    const callGuard: CallGuard = {
      ...plain,
      prepare({ provider, hasNext }) {
        looked.push([provider, hasNext]);
        return undefined;
      },
    };
    const model = ["first", "second"].map(
      (name): ModelRef => ({
        provider: scripted([name === "first" ? overloaded : { text: "ok" }], { name }),
        model: "m",
        keyOwner: "platform",
      }),
    );
    const agent = createAgent({ name: "tester", model, limits: { attemptsMax: 1 } });
    await execute(createSession({ agent, clock, callGuard }), "x").result();
    expect(looked).toEqual([
      ["first", true],
      ["second", false],
    ]);
  });

  it("stays with the model that answered for the rest of the run, and begins again with the next input", async () => {
    const look = { name: "look", description: "Looks.", parameters: { type: "object" }, execute: () => "seen" };
    const { session, asked, past } = chained(
      [
        { name: "first", steps: [overloaded, { text: "The first again." }] },
        { name: "second", steps: [{ calls: [{ name: "look" }] }, { text: "Seen by the second." }] },
      ],
      { limits: { attemptsMax: 1 }, tools: [look] },
    );
    const stream = execute(session, "x");
    await past();
    expect((await stream.result()).text).toBe("Seen by the second.");
    expect(asked()).toEqual([
      ["first", 1],
      ["second", 2],
    ]);
    expect((await execute(session, "y").result()).text).toBe("The first again.");
  });

  it.each(["MODEL_AUTH", "MODEL_BAD_REQUEST", "MODEL_REFUSED", "CONTEXT_OVERFLOW"] as const)(
    "is stopped by %s: another model would hide it",
    async (code) => {
      const { session, asked } = chained([
        { name: "first", steps: [{ error: code }] },
        { name: "second", steps: [{ text: "never" }] },
      ]);
      expect((await execute(session, "x").result()).error?.code).toBe(code);
      expect(asked()).toEqual([
        ["first", 1],
        ["second", 0],
      ]);
    },
  );

  it("calls the next model at once if the vendor asks for a wait of more than a minute", async () => {
    const slow = new AgentError("MODEL_RATE_LIMITED", { message: "Slow down.", retryAfterMs: 600_000 });
    const { session, clock } = chained([
      { name: "first", steps: [{ error: slow }] },
      { name: "second", steps: [{ text: "At once." }] },
    ]);
    const began = clock.now();
    expect([(await execute(session, "x").result()).text, clock.now() - began]).toEqual(["At once.", 0]);
  });

  it("passes to the key of another owner only where the agent allows that", async () => {
    const links: readonly Link[] = [
      { name: "own", steps: [overloaded], keyOwner: "user" },
      { name: "paid", steps: [{ text: "Paid by the platform." }], keyOwner: "platform" },
    ];
    const limits = { attemptsMax: 1 };
    expect((await execute(chained(links, { limits }).session, "x").result()).error?.code).toBe("MODEL_OVERLOADED");
    const crossing = chained(links, { limits, crossings: [{ from: "user", to: "platform" }] });
    expect((await execute(crossing.session, "x").result()).text).toBe("Paid by the platform.");
  });

  it("withdraws the text of the first model before the text of the second one begins", async () => {
    const { session } = chained(
      [
        { name: "first", steps: [{ text: "half", error: "MODEL_OVERLOADED" }] },
        { name: "second", steps: [{ text: "whole" }] },
      ],
      { limits: { attemptsMax: 1 } },
    );
    const stream = execute(session, "x");
    expect((await stream.result()).text).toBe("whole");
    const order = (await eventsOf(stream)).flatMap((event) =>
      event.type === "text_delta" ? [event.delta] : event.type === "attempt_discarded" ? [event.type] : [],
    );
    expect(order).toEqual(["half", "attempt_discarded", "whole"]);
  });

  it("is continued at its place by another process", async () => {
    const { session, open, asked, past } = chained(
      [
        { name: "first", steps: [overloaded] },
        { name: "second", steps: [{ hang: true }, { text: "After the hand-over." }] },
      ],
      { limits: { attemptsMax: 1 } },
    );
    const stream = execute(session, "x");
    for await (const event of stream) if (event.type === "attempt_discarded") break;
    await calm();
    const handing = session.handOver();
    await past();
    await handing;
    const later = resume(await open("two").ready());
    await past();
    expect((await later.result()).text).toBe("After the hand-over.");
    expect(asked()).toEqual([
      ["first", 1],
      ["second", 2],
    ]);
  });

  it("takes the model that an input asks for in place of the first", async () => {
    const { session, facts } = chained(
      [
        { name: "first", steps: [overloaded] },
        { name: "second", steps: [{ text: "ok" }] },
      ],
      { limits: { attemptsMax: 1 } },
    );
    await execute(session, "x", { model: "first-large" }).result();
    const started = (await facts()).flatMap((fact) => (fact.type === "model.started" ? [fact.model] : []));
    expect(started).toEqual(["first-large", "second-1"]);
  });

  it("of one model is written down nowhere", async () => {
    const { session, facts } = chained([{ name: "only", steps: [{ text: "ok" }] }]);
    await execute(session, "x").result();
    expect(JSON.stringify(await facts())).not.toMatch(/"chain"|"link"|"keyOwner"/);
  });
});
