import { AgentError } from "@loopwright/core";
import { describe, expect, it } from "vitest";
import { type CircuitRecords, memoryCircuits } from "../src/index.ts";
import { answering, asked, type Behaviour, deployed, down } from "./deployment.ts";

const minute = 60_000;

/** A vendor whose behaviour the test changes. */
function vendor(first: Behaviour): { behave: Behaviour; readonly ask: Behaviour } {
  const one = { behave: first, ask: () => one.behave() };
  return one;
}

describe("a model that another one of its chain can follow", () => {
  it("C27: is left alone after one call that the chain moved on from, tried again after its cooldown, and an answer ends that", async () => {
    const first = vendor(down);
    const world = deployed({ behaviours: { first: first.ask, second: answering("second") } });
    const begun = await world.ask();
    expect([begun.result.text, asked(world)]).toEqual(["From second.", { first: 1, second: 1 }]);
    world.clock.advance(minute - 1);
    const skipped = await world.ask();
    expect([skipped.result.text, asked(world)]).toEqual(["From second.", { first: 1, second: 2 }]);
    expect(skipped.facts.flatMap((fact) => (fact.type === "model.failed" ? [[fact.failure.code, fact.next?.provider]] : []))).toEqual([
      ["MODEL_CIRCUIT_OPEN", "second"],
    ]);
    first.behave = answering("first");
    world.clock.advance(1);
    expect((await world.ask()).result.text).toBe("From first.");
    await world.calm();
    expect((await world.ask()).result.text).toBe("From first.");
    first.behave = down;
    await world.ask();
    world.clock.advance(minute);
    first.behave = answering("first");
    expect((await world.ask()).result.text).toBe("From first.");
  });

  it("C27: is left alone five times as long after each probe that fails, to an hour", async () => {
    const world = deployed({ behaviours: { first: down, second: answering("second") } });
    await world.ask();
    for (const minutes of [1, 5, 25, 60, 60]) {
      const before = asked(world)["first"] ?? 0;
      world.clock.advance(minutes * minute - 1);
      await world.ask();
      expect(asked(world)["first"]).toBe(before);
      world.clock.advance(1);
      await world.ask();
      expect(asked(world)["first"]).toBe(before + 1);
      await world.calm();
    }
  });

  it("is left alone for as long as its vendor asked for", async () => {
    const quota: Behaviour = () => ({ error: new AgentError("MODEL_RATE_LIMITED", { message: "Slow down.", retryAfterMs: 10 * minute }) });
    const world = deployed({ behaviours: { first: quota, second: answering("second") } });
    await world.ask();
    world.clock.advance(10 * minute - 1);
    await world.ask();
    expect(asked(world)["first"]).toBe(1);
    world.clock.advance(1);
    await world.ask();
    expect(asked(world)["first"]).toBe(2);
  });

  it("is not left alone for an attempt that its own second one made good", async () => {
    const turns: Behaviour[] = [down, answering("first"), answering("first")];
    const world = deployed({
      behaviours: { first: () => (turns.shift() ?? down)(), second: answering("second") },
      limits: { attemptsMax: 2 },
    });
    const begun = world.begin();
    await world.calm();
    world.clock.advance(minute);
    expect((await begun.result).text).toBe("From first.");
    expect((await world.ask()).result.text).toBe("From first.");
    expect(asked(world)).toEqual({ first: 3, second: 0 });
  });

  it("gives its probe to the next call where a person stopped the first one", async () => {
    const first = vendor(down);
    const world = deployed({ behaviours: { first: first.ask, second: answering("second") } });
    await world.ask();
    world.clock.advance(minute);
    first.behave = () => ({ hang: true });
    const stopped = world.begin();
    await world.calm();
    expect((await world.ask()).result.text).toBe("From second.");
    await stopped.abort();
    await stopped.result;
    await world.calm();
    first.behave = answering("first");
    expect((await world.ask()).result.text).toBe("From first.");
  });
});

describe("processes on the same records", () => {
  it("leave alone what failed in one of them, and one call of all is the probe", async () => {
    const first = vendor(down);
    const world = deployed({ behaviours: { first: first.ask, second: answering("second") }, processes: 3 });
    await world.ask(0);
    await world.calm();
    world.clock.advance(2_000);
    for (const process of [1, 2]) expect((await world.ask(process)).result.text).toBe("From second.");
    expect(asked(world)["first"]).toBe(1);
    world.clock.advance(minute);
    first.behave = () => ({ hang: true });
    const storm = Array.from({ length: 60 }, (_, at) => world.begin(at % 3));
    await world.calm();
    expect(asked(world)["first"]).toBe(2);
    await Promise.all(storm.map((one) => one.abort()));
    const texts = (await Promise.all(storm.map(({ result }) => result))).map(({ text }) => text);
    expect(texts.filter((text) => text === "From second.")).toHaveLength(59);
  });

  it("take it back together when the probe is answered, and leave it alone for longer when it fails", async () => {
    const first = vendor(down);
    const world = deployed({ behaviours: { first: first.ask, second: answering("second") }, processes: 2 });
    await world.ask(0);
    await world.calm();
    world.clock.advance(minute);
    await world.ask(1);
    await world.calm();
    expect(asked(world)["first"]).toBe(2);
    world.clock.advance(4 * minute);
    await world.ask(0);
    await world.ask(1);
    expect(asked(world)["first"]).toBe(2);
    world.clock.advance(minute);
    first.behave = answering("first");
    expect((await world.ask(0)).result.text).toBe("From first.");
    await world.calm();
    world.clock.advance(1_000);
    expect((await world.ask(1)).result.text).toBe("From first.");
  });

  it("call as before where the records are away or never answer, each by what it knows", async () => {
    const away: CircuitRecords = {
      get: () => Promise.reject(new Error("the records are away")),
      put: () => Promise.reject(new Error("the records are away")),
    };
    const lines: string[] = [];
    const logger = { log: (_level: string, message: string) => void lines.push(message) };
    const world = deployed({ behaviours: { first: down, second: answering("second") }, records: away, failover: { logger } });
    expect((await world.ask()).result.text).toBe("From second.");
    expect((await world.ask()).result.text).toBe("From second.");
    expect([asked(world)["first"], lines.length]).toEqual([1, 1]);

    const silent: CircuitRecords = { get: () => new Promise(() => {}), put: () => new Promise(() => {}) };
    const waiting = deployed({ behaviours: { first: answering("first"), second: answering("second") }, records: silent });
    const begun = waiting.begin();
    await waiting.calm();
    waiting.clock.advance(500);
    expect((await begun.result).text).toBe("From first.");
  });

  it("keep what another process wrote meanwhile: a change that came too late is made again on top of it", async () => {
    const kept = memoryCircuits();
    let puts = 0;
    const contended: CircuitRecords = {
      get: (...where) => kept.get(...where),
      async put(owner, kind, change) {
        if (++puts === 1) await kept.put(owner, kind, { ...change, value: { untilMs: 1, forMs: 7 } });
        return kept.put(owner, kind, change);
      },
    };
    const world = deployed({ behaviours: { first: down, second: answering("second") }, records: contended });
    await world.ask();
    await world.calm();
    const [entry] = await Promise.all([
      kept.get({ scope: "local", user: "failover" }, "circuit", JSON.stringify(["first", "first-1", "chain"])),
    ]);
    expect(entry?.value["forMs"]).toBe(7);
  });
});

describe("a model that is alone", () => {
  it("is left alone after five failures of a process, by all of them, and the last of a chain is called although it failed once", async () => {
    const world = deployed({ behaviours: { only: down }, processes: 2 });
    for (let call = 0; call < 5; call++) await world.ask(0);
    await world.calm();
    world.clock.advance(1_000);
    expect((await world.ask(1)).result.error?.code).toBe("MODEL_CIRCUIT_OPEN");
    expect(asked(world)["only"]).toBe(5);
    const chain = deployed({ behaviours: { first: down, last: down } });
    for (let call = 0; call < 3; call++) await chain.ask();
    expect(asked(chain)).toEqual({ first: 1, last: 3 });
  });
});

describe("the circuit of a vendor", () => {
  it.each(["prepare", "decide", "filter"] as const)("is not opened by a broken hook or filter: %s", async (point) => {
    const fail = (): never => {
      throw new TypeError("a bug of the application");
    };
    const broken = point === "filter" ? { filter: { holdBack: () => 0, apply: fail } } : { [point]: fail };
    const world = deployed({
      behaviours: { first: answering("first"), second: answering("second") },
      hooks: [{ name: "broken", ...broken }],
    });
    for (let call = 0; call < 8; call++) expect((await world.ask()).result.error?.code).not.toBe("MODEL_CIRCUIT_OPEN");
    expect(asked(world)["second"]).toBe(0);
    expect(asked(world)["first"]).toBe(point === "prepare" ? 0 : 8);
  });

  it.each(["MODEL_AUTH", "MODEL_BAD_REQUEST", "MODEL_REFUSED", "CONTEXT_OVERFLOW"] as const)(
    "is not opened by %s, and no other vendor is asked",
    async (error) => {
      const world = deployed({ behaviours: { first: () => ({ error }), second: answering("second") } });
      for (let call = 0; call < 8; call++) expect((await world.ask()).result.error?.code).toBe(error);
      expect(asked(world)).toEqual({ first: 8, second: 0 });
    },
  );
});
