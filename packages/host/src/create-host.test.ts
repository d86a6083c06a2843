import { createAgent, defineTool } from "@loopwright/core";
import { manualClock, memoryChannel, memoryQueue, memoryStore, type ScriptedTurn, scripted, silentLogger } from "@loopwright/core/memory";
import { expect, it, onTestFinished } from "vitest";
import { runClock, until } from "../test/turn-of-loop.ts";
import { createHost, type Host } from "./create-host.ts";
import { createRuntime } from "./runtime/create-runtime.ts";

const access = { user: "ann", scope: "team" };

/** Hosts over one store and queue whose agent calls a tool that ends on the host of this number alone. */
function hosts(endsOn: number) {
  const clock = manualClock();
  const shared = { store: memoryStore({ clock }), queue: memoryQueue(), channel: memoryChannel(), clock, logger: silentLogger };
  const started: number[] = [];
  const turns: readonly ScriptedTurn[] = [{ calls: [{ name: "work", args: {} }] }, { text: "Done." }];
  const start = (number: number): Host => {
    const work = defineTool({
      name: "work",
      description: "Works.",
      parameters: { type: "object" },
      replay: "pure",
      execute(_, { signal }) {
        started.push(number);
        if (number === endsOn) return "worked";
        return new Promise<string>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      },
    });
    const provider = scripted((request) => turns[request.messages.some(({ role }) => role === "tool_result") ? 1 : 0] ?? { text: "" });
    const host = createHost({
      runtime: createRuntime({ ...shared, agents: [createAgent({ name: "helper", provider, tools: [work] })] }),
      isOneOfMany: false,
    });
    onTestFinished(() => host.close());
    return host;
  };
  return { ...shared, clock, started, start };
}

it("gives what runs to another host when it hands over, within a second and long before the lease is over", async () => {
  const { start, started, store, clock } = hosts(2);
  const first = start(1);
  const ended: string[] = [];
  first.onEnd(() => ended.push(`with ${first.sessions.loaded} loaded`));
  const { session } = await first.sessions.create(access, { id: "a" });
  await session.submit("Work.");
  await until(() => started.length === 1, "the tool has begun");
  start(2);
  const beganAt = clock.now();
  onTestFinished(runClock(clock, 10));
  expect(await first.handOver({ withinMs: 100 })).toBe(1);
  expect([ended, first.ready(), first.running]).toEqual([["with 1 loaded"], false, 0]);
  const last = async (): Promise<string | undefined> => (await store.log.read({ scope: "team", session: "a" })).at(-1)?.type;
  await until(async () => (await last()) === "run.finished", "the other host ends the run");
  expect(started).toEqual([1, 2]);
  expect(clock.now() - beganAt).toBeLessThan(1_500);
});

it("gives what runs to a host that follows the session already before that host would look at the lease again", async () => {
  const { start, started, clock } = hosts(2);
  const first = start(1);
  const { session, ref } = await first.sessions.create(access, { id: "a" });
  await session.submit("Work.");
  await until(() => started.length === 1, "the tool has begun");
  const second = start(2);
  const follower = await second.sessions.open(ref);
  const stop = runClock(clock, 10);
  onTestFinished(stop);
  // Long enough for the follower to have read the lease of the owner.
  const from = clock.now();
  await until(() => clock.now() - from > 1_200, "the follower has looked");
  expect(follower.session.isOwner).toBe(false);
  await first.handOver({ withinMs: 1 });
  const handedOverAt = clock.now();
  await until(() => started.length === 2, "the other host continues");
  expect(clock.now() - handedOverAt).toBeLessThan(200);
});

it.each([
  ["one of many polls a log that announces nothing as if there were no channel", true, 30],
  ["alone polls it seldom: its channel announces its own appends", false, 4],
])("without a channel a host that is %s", async (_, isOneOfMany, readsAtLeast) => {
  const clock = manualClock();
  const { log, ...store } = memoryStore({ clock });
  const { subscribe: _subscribe, ...silent } = log;
  let reads = 0;
  const read: typeof log.read = (...args) => {
    reads += 1;
    return log.read(...args);
  };
  const agents = [createAgent({ name: "helper", provider: scripted([]) })];
  const host = createHost({
    runtime: createRuntime({ agents, store: { ...store, log: { ...silent, read } }, clock, logger: silentLogger }),
    isOneOfMany,
  });
  onTestFinished(() => host.close());
  const { session } = await host.sessions.create(access, { id: "a" });
  await session.open();
  session.follow({ events() {} });
  reads = 0;
  const stop = runClock(clock, 50);
  const from = clock.now();
  await until(() => clock.now() - from > 10_000, "ten seconds have passed");
  stop();
  expect(reads).toBeGreaterThanOrEqual(readsAtLeast);
  expect(reads).toBeLessThanOrEqual(readsAtLeast * 2);
});

it("refuses an agent list that is empty and a limit that is no whole number", () => {
  const options = { agents: [createAgent({ name: "helper", provider: scripted([]) })], store: memoryStore(), logger: silentLogger };
  expect(() => createRuntime({ ...options, agents: [] })).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  for (const limits of [{ sweepMs: 0.5 }, { sessionsLoaded: 0 }])
    expect(() => createHost({ runtime: createRuntime(options), limits })).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
});
