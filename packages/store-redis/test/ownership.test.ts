import { createAgent, createSession, type Fact } from "@loopwright/core";
import type { ModelProvider } from "@loopwright/core/ports";
import { faultyProxy } from "@loopwright/simulator/node";
import { describe, expect, it, onTestFinished } from "vitest";
import { missing, redisFixture } from "./redis-fixture.ts";
import { patiently, ref } from "./samples.ts";

const fixture = redisFixture();

describe.skipIf(missing !== undefined)("many stores on one Redis", () => {
  it("claim a session at once 200 times: each time one of them gets it, under the next epoch", async () => {
    const prefix = fixture.prefix();
    const stores = Array.from({ length: 4 }, () => fixture.open({ prefix }));
    await Promise.all(stores.map(({ log }) => log.head(ref)));
    for (let round = 1; round <= 200; round++) {
      const claims = await Promise.all(stores.map(({ log }, index) => log.claim(ref, { node: `n${index}`, leaseMs: 60_000 })));
      const won = claims.flatMap((claim) => (claim.type === "claimed" ? [claim.epoch] : []));
      expect(won).toEqual([round]);
      await stores[claims.findIndex(({ type }) => type === "claimed")]?.log.release(ref, round);
    }
  });

  it("let a lease run out by the time of Redis", async () => {
    const prefix = fixture.prefix();
    const [one, two] = [fixture.open({ prefix }), fixture.open({ prefix })];
    await one.log.claim(ref, { node: "one", leaseMs: 300 });
    expect(await two.log.claim(ref, { node: "two", leaseMs: 300 })).toMatchObject({ type: "held", node: "one" });
    expect(
      await patiently(
        () => two.log.claim(ref, { node: "two", leaseMs: 300 }),
        ({ type }) => type === "claimed",
      ),
    ).toMatchObject({
      epoch: 2,
    });
  });
});

/** A model that waits until the test gives its answer. */
function commandedModel() {
  let speak: (text: string) => void = () => {};
  let calls = 0;
  const provider: ModelProvider = {
    name: "told",
    defaultModel: "told-1",
    capabilities: () => ({ streaming: true, tools: true, vision: true, promptCaching: false }),
    async *stream(_, { signal }) {
      calls++;
      const text = await new Promise<string>((resolve, reject) => {
        speak = resolve;
        signal.addEventListener("abort", () => reject(signal.reason));
      });
      yield [
        { type: "text", index: 0, delta: text },
        { type: "end", stopReason: "stop", raw: "stop" },
      ];
    },
  };
  return { provider, calls: () => calls, speak: (text: string) => speak(text) };
}

describe.skipIf(missing !== undefined)("two handles that drive one session, each over its own store", () => {
  it("when one goes silent in the middle of a call the other takes over and ends the run, and the first writes no more", async () => {
    const prefix = fixture.prefix();
    const proxy = await faultyProxy({ target: { port: fixture.redis.port } });
    onTestFinished(() => proxy.close());
    const [near, far] = [fixture.open({ prefix, deadlineMs: 2_000, url: `redis://127.0.0.1:${proxy.port}` }), fixture.open({ prefix })];
    const [first, second] = [commandedModel(), commandedModel()];
    const open = (store: typeof near, model: ReturnType<typeof commandedModel>, node: string) =>
      createSession({ agent: createAgent({ name: "told", provider: model.provider }), id: ref.session, store, node, leaseMs: 1_000 });
    const one = open(near, first, "one");
    await one.submit("Tell me.");
    await expect.poll(() => first.calls()).toBe(1);
    const two = open(far, second, "two");
    await two.ready();
    proxy.infect({ toServer: { isHeld: true }, toClient: { isHeld: true } });
    const leave = two.follow({ events: () => {} });
    onTestFinished(leave);
    await expect.poll(() => second.calls()).toBe(1);
    first.speak("Said by the one that was silent.");
    second.speak("Said by the one that took over.");
    const types = (facts: readonly Fact[]): readonly string[] => facts.map(({ type }) => type);
    await expect.poll(async () => types(await far.log.read(ref)).at(-1)).toBe("run.finished");
    proxy.infect();
    // The first is in reach of Redis again, and has had the time to write what it was given.
    await patiently(() => near.log.read(ref));
    const facts = await far.log.read(ref);
    expect(types(facts).filter((type) => type === "owner.claimed")).toHaveLength(2);
    expect(types(facts).filter((type) => type === "model.failed")).toHaveLength(1);
    const written = facts.flatMap((fact) => (fact.type === "model.finished" ? [JSON.stringify(fact.message)] : []));
    expect(written).toHaveLength(1);
    expect(written[0]).toContain("took over");
    expect(types(facts).at(-1)).toBe("run.finished");
    expect(await near.log.read(ref)).toEqual(facts);
  });
});
