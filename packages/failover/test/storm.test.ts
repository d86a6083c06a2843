import { type AgentEvent, type CallTarget, createAgent, createSession, type ExecuteResult, execute } from "@loopwright/core";
import { manualClock, memoryStore, scripted } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import { failoverLimits } from "../src/failover-limits.ts";
import { createFailover } from "../src/index.ts";
import { UnprovenCalls } from "../src/unproven-calls.ts";
import { answering, asked, type Behaviour, type Deployment, deployed, down } from "./deployment.ts";

const names = ["first", "second", "third"] as const;

/** What a vendor may do with a call: each outcome as it is before the first piece of its answer, or after it. */
const outcomes = {
  answers: (name: string): Behaviour => answering(name),
  "fails before": (): Behaviour => down,
  "fails after":
    (name: string): Behaviour =>
    () => ({ text: `Half of ${name}`, error: "MODEL_STREAM_BROKEN" }),
  "breaks off after":
    (name: string): Behaviour =>
    () => ({ text: `Half of ${name}`, breaksOff: true }),
  "refuses the key": (): Behaviour => () => ({ error: "MODEL_AUTH" }),
} as const;
type Outcome = keyof typeof outcomes;
const kinds = Object.keys(outcomes) as Outcome[];
const courses = kinds.flatMap((one) => kinds.flatMap((two) => kinds.map((three) => [one, two, three] as const)));

/** The text that a watcher sees at the end: what is streamed, without what was withdrawn. */
function shown(events: readonly AgentEvent[]): string {
  let text = "";
  for (const event of events) {
    if (event.type === "attempt_discarded") text = "";
    else if (event.type === "text_delta") text += event.delta;
  }
  return text;
}

describe("three vendors", () => {
  it.each(courses)("%s, %s, %s: the kept message and what was shown are those of one vendor alone", async (...course) => {
    const clock = manualClock();
    const model = names.map((name, at) => ({
      provider: scripted(outcomes[course[at] ?? "answers"](name), { name, chunkSize: 4 }),
      model: `${name}-1`,
      keyOwner: "platform" as const,
    }));
    const agent = createAgent({ name: "tester", model, limits: { attemptsMax: 1 } });
    const session = createSession({ agent, clock, store: memoryStore({ clock }), callGuard: createFailover({ clock }) });
    const stream = execute(session, "x");
    const events: AgentEvent[] = [];
    for await (const event of stream) events.push(event);
    const result = await stream.result();
    const stop = course.findIndex((outcome) => outcome === "answers" || outcome === "refuses the key");
    const called = model.map(({ provider }) => provider.requests.length);
    expect(called).toEqual(names.map((_, at) => (stop < 0 || at <= stop ? 1 : 0)));
    if (course[stop] === "answers") {
      expect([result.status, result.text, shown(events)]).toEqual(["completed", `From ${names[stop]}.`, `From ${names[stop]}.`]);
      expect(result.messages.at(-1)).toMatchObject({ role: "assistant", provider: names[stop] });
    } else {
      expect(result.status).toBe("error");
      const last = stop < 0 ? 2 : stop;
      for (const name of names.slice(0, last + 1)) if (last > 0) expect(result.error?.message).toContain(`${name} ${name}-1: MODEL_`);
      for (const [at, name] of names.entries()) if (at !== last) expect(result.text).not.toContain(name);
    }
  });
});

/** A generator of numbers in [0, 1) that gives the same ones each time. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

const sessions = 200;
const callsOfSession = 3;
const stormMs = 60_000;
const stepMs = 100;
const calls = sessions * callsOfSession;
const weather = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => names.map((_, at) => (bits >> at) % 2 === 1));

describe("a storm of a minute, 200 sessions in two processes", () => {
  it.each(weather)("vendors down: %s, %s, %s: all vendors together get at most 1.1 times the calls, and 10", async (...isDown) => {
    const behaviours = Object.fromEntries(names.map((name, at) => [name, isDown[at] ? down : answering(name)]));
    const world = deployed({ behaviours, processes: 2 });
    const roll = dice(7);
    const due = Array.from({ length: calls }, () => Math.floor(roll() * (stormMs / stepMs))).sort((one, other) => one - other);
    const results = [];
    for (let step = 0; step < stormMs / stepMs; step++) {
      while (due[0] === step) {
        due.shift();
        results.push(world.begin(results.length % 2).result);
      }
      for (let turn = 0; turn < 4; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
      world.clock.advance(stepMs);
    }
    const settled = Promise.all(results);
    let isOver = false;
    void settled.then(() => {
      isOver = true;
    });
    while (!isOver) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      world.clock.advance(stepMs);
    }
    const ended = await settled;
    const attempts = Object.values(asked(world)).reduce((sum, count) => sum + count, 0);
    expect(ended).toHaveLength(calls);
    expect(attempts).toBeLessThanOrEqual(1.1 * calls + 10);
    const up = names.find((_, at) => !isDown[at]);
    if (up === undefined) return;
    for (const { text } of ended) expect(text).toBe(`From ${up}.`);
  });

  it.each(weather)(
    "vendors down: %s, %s, %s: all vendors together get no more where all calls come in the same moment",
    async (...isDown) => {
      const behaviours = Object.fromEntries(names.map((name, at) => [name, isDown[at] ? down : answering(name)]));
      const world = deployed({ behaviours, processes: 2 });
      const ended = await together(world);
      const up = names.find((_, at) => !isDown[at]);
      if (up !== undefined) for (const { text } of ended) expect(text).toBe(`From ${up}.`);
      const attempts = Object.values(asked(world)).reduce((sum, count) => sum + count, 0);
      expect(attempts).toBeLessThanOrEqual(1.1 * sessions + 10);
    },
  );

  it("lets calls of the same moment look for the vendor that answers by a few of them, also where each vendor is tried again", async () => {
    const world = deployed({
      behaviours: { first: down, second: down, third: answering("third") },
      processes: 2,
      limits: { attemptsMax: 3 },
    });
    for (const { text } of await together(world)) expect(text).toBe("From third.");
    const { first = 0, second = 0, third } = asked(world);
    // Each process has a budget of its own for what it tries again.
    expect([first + second <= 0.1 * sessions + 2 * 10, third]).toEqual([true, sessions]);
  });

  it("lets a call go at once where all that were let through before have failed and ended", () => {
    const unproven = new UnprovenCalls(manualClock(), failoverLimits);
    const target = { provider: "first", model: "first-1", hasNext: true } as CallTarget;
    const begin = () => Array.from({ length: failoverLimits.unprovenMax }, () => unproven.take(target));
    expect(begin().every((wait) => wait === undefined)).toBe(true);
    expect(unproven.take(target)).toBeInstanceOf(Promise);
    for (let call = 0; call < failoverLimits.unprovenMax; call++) unproven.failed();
    expect(begin().every((wait) => wait === undefined)).toBe(true);
  });

  it("lets calls wait at most two seconds for a vendor that hangs, and not at all for one that has answered", async () => {
    const world = deployed({ behaviours: { first: () => ({ hang: true }), second: answering("second") } });
    const waiting = Array.from({ length: 20 }, () => world.begin());
    await world.calm();
    expect(asked(world)["first"]).toBe(5);
    world.clock.advance(2_000);
    await world.calm();
    expect(asked(world)["first"]).toBe(20);
    await Promise.all(waiting.map((one) => one.abort()));
    const answered = deployed({ behaviours: { first: answering("first"), second: down } });
    await answered.ask();
    const begun = Array.from({ length: 20 }, () => answered.begin());
    await answered.calm();
    expect(asked(answered)["first"]).toBe(21);
    await Promise.all(begun.map(({ result }) => result));
  });
});

/** What becomes of the calls of all sessions, which come in the same moment. */
async function together(world: Deployment): Promise<readonly ExecuteResult[]> {
  const begun = Array.from({ length: sessions }, (_, at) => world.begin(at % 2));
  let isOver = false;
  const settled = Promise.all(begun.map(({ result }) => result));
  void settled.then(() => {
    isOver = true;
  });
  while (!isOver) {
    await world.calm();
    world.clock.advance(stepMs);
  }
  return settled;
}
