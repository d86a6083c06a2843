import { type Agent, agentTool, createAgent, type SessionEvent, textOf } from "@loopwright/core";
import {
  type ManualClock,
  manualClock,
  memoryChannel,
  memoryQueue,
  memoryStore,
  scripted,
  seededIds,
  silentLogger,
} from "@loopwright/core/memory";
import type { SessionStore } from "@loopwright/core/ports";
import { describe, expect, it } from "vitest";
import { type Death, type DyingStore, dyingStore } from "../../core/test/dying-store.ts";
import { createHost, createRuntime, type Host } from "../src/index.ts";
import { runClock, until } from "./turn-of-loop.ts";

const access = { user: "anne", scope: "team" };
const root = { scope: "team", session: "root" };
const usage = { input: 10, output: 5 };

/** Starts a researcher in the background, and repeats what it reads of its report. */
function lead(): Agent {
  const researcher = createAgent({ name: "researcher", provider: scripted(() => ({ text: "Lisbon.", usage })) });
  return createAgent({
    name: "lead",
    provider: scripted(({ messages }) => {
      const last = messages.at(-1);
      const asked = last?.role === "user" ? textOf(last) : "";
      if (asked.startsWith("The agent")) return { text: `Read: ${asked.split("\n\n")[1]}`, usage };
      return last?.role === "user"
        ? { calls: [{ name: "researcher", args: { task: "The capital?" } }], usage }
        : { text: "It is under way.", usage };
    }),
    tools: [agentTool({ agent: researcher, background: true })],
  });
}

interface Place {
  readonly store: SessionStore;
  readonly clock: ManualClock;
  nodes: number;
}

function boot({ store, clock, ...place }: Place, death?: Death): { readonly host: Host; readonly dying: DyingStore } {
  const dying = dyingStore(store, death);
  const runtime = createRuntime({ agents: [lead()], store: dying, clock, ids: seededIds(place.nodes), logger: silentLogger });
  return { dying, host: createHost({ runtime, node: `n${place.nodes}` }) };
}

/** The user asks, again under the same key where the process before has died. */
async function ask({ sessions }: Host): Promise<void> {
  const hosted = await sessions.create(access, { id: "root" }).catch(() => sessions.open(root));
  await hosted.session.submit("What is the capital of Portugal?", { idempotencyKey: "ask" });
  hosted.release();
}

const typesIn = async ({ store }: Place, session: string): Promise<readonly string[]> =>
  (await store.log.read({ scope: "team", session })).map(({ type }) => type);

async function isReported(place: Place): Promise<boolean> {
  const facts = await place.store.log.read(root);
  const isRead = facts.some((fact) => fact.type === "model.finished" && textOf(fact.message).includes("Read: Lisbon."));
  return isRead && facts.at(-1)?.type === "run.finished" && (await place.store.log.due({ now: place.clock.now() })).length === 0;
}

/** True if the process has died before all was done. */
async function play(death: Death): Promise<boolean> {
  const clock = manualClock();
  const place: Place = { store: memoryStore({ clock }), clock, nodes: 1 };
  const stop = runClock(clock, 50);
  const first = boot(place, death);
  void ask(first.host).catch(() => {});
  await until(async () => first.dying.isDead || (await isReported(place)), "the first process dies, or all is done");
  const hasDied = first.dying.isDead;
  if (hasDied) {
    place.nodes++;
    clock.advance(20_001);
    const next = boot(place);
    await ask(next.host);
    await until(() => isReported(place), `all is done after a death ${death.when} append ${death.at}`);
    await next.host.close();
  } else await first.host.close();
  stop();
  const types = await typesIn(place, "root");
  const count = (type: string, list = types): number => list.filter((one) => one === type).length;
  const children = await place.store.index.list("team", { parent: "root" });
  expect([death, children.length, count("child.linked"), count("child.finished"), count("input.accepted")]).toEqual([death, 1, 1, 1, 2]);
  const below = await typesIn(place, children[0]?.id ?? "");
  expect([count("session.opened", below), count("input.accepted", below), count("run.finished", below)]).toEqual([1, 1, 1]);
  const summary = await place.store.index.get("team", "root");
  const spentBelow = children[0]?.usage?.input ?? 0;
  const own = (await place.store.log.read(root)).reduce(
    (sum, fact) => sum + (fact.type === "model.finished" ? (fact.usage?.input ?? 0) : 0),
    0,
  );
  expect(summary?.usage?.input).toBe(own + spentBelow);
  return hasDied;
}

describe("row 33: a process that dies with a child in the background", () => {
  it.each(["before", "after"] as const)("33: %s any append: the child runs, and is reported once", async (when) => {
    let deaths = 0;
    for (let at = 1; await play({ at, when }); at++) deaths++;
    expect(deaths).toBeGreaterThan(10);
  });
});

it("B44: a session is deleted with its child in the background, which is stopped in the middle of its answer and never reported", async () => {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const started = Promise.withResolvers<AbortSignal | undefined>();
  const hanging = scripted([{ hang: true }]);
  const stream: typeof hanging.stream = (request, options) => {
    started.resolve(options?.signal);
    return hanging.stream(request, options);
  };
  const researcher = createAgent({ name: "researcher", provider: { ...hanging, stream } });
  const provider = scripted([{ calls: [{ name: "researcher", args: { task: "The capital?" } }] }, { text: "It is under way." }]);
  const agent = createAgent({ name: "lead", provider, tools: [agentTool({ agent: researcher, background: true })] });
  const host = createHost({ runtime: createRuntime({ agents: [agent], store, clock, logger: silentLogger }) });
  const stop = runClock(clock, 5);
  await ask(host);
  const signal = await started.promise;
  await until(async () => (await store.index.get("team", "root"))?.status === "idle", "its run is over");
  const [child] = await store.index.list("team", { parent: "root" });
  await host.sessions.remove(root);
  expect(signal?.aborted).toBe(true);
  for (const session of ["root", child?.id ?? ""]) expect(await store.log.read({ scope: "team", session })).toEqual([]);
  expect([await store.log.due({ now: Number.MAX_SAFE_INTEGER }), host.running]).toEqual([[], 0]);
  stop();
  await host.close();
});

it("B44: the agent of a child is found below the agent of its parent, at any depth, also where a function finds agents; else the error names what to do", async () => {
  const store = memoryStore();
  const clerk = createAgent({ name: "clerk", provider: scripted([{ text: "Done." }]) });
  const task = (name: string) => ({ calls: [{ name, args: { task: "Go." } }] });
  const middle = createAgent({
    name: "middle",
    provider: scripted([task("clerk"), { text: "Done." }]),
    tools: [agentTool({ agent: clerk })],
  });
  const plain = (tool: object) =>
    createAgent({ name: "lead", provider: scripted([task("middle"), { text: "Done." }]), tools: [tool as never] });
  const top = plain(agentTool({ agent: middle }));
  const runtime = createRuntime({ agents: (name) => (name === "lead" ? top : undefined), store, logger: silentLogger });
  await runtime.ask(top, "Go.", { id: "root", access }).result();
  const [first] = await store.index.list("team", { parent: "root" });
  const [second] = await store.index.list("team", { parent: first?.id ?? "" });
  const host = createHost({ runtime });
  for (const [id, agent] of [
    [first?.id, "middle"],
    [second?.id, "clerk"],
  ] as const) {
    const hosted = await host.sessions.open({ scope: "team", session: id ?? "" });
    expect(hosted.session.snapshot()).toMatchObject({ agent });
    hosted.release();
    expect((await runtime.open(id ?? "", access)).status).toBe("completed");
  }
  await host.close();
  const bare = createHost({
    runtime: createRuntime({
      agents: [plain({ name: "middle", description: "Does.", parameters: { type: "object" } })],
      store,
      logger: silentLogger,
    }),
  });
  await expect(bare.sessions.open({ scope: "team", session: first?.id ?? "" })).rejects.toMatchObject({
    code: "AGENT_NOT_FOUND",
    message: "This runtime has no agent `middle`, and no tool or hook of the agent of its parent `root` names it.",
    fix: expect.stringContaining("Name it in `agents` of the tool"),
  });
  await bare.close();
});

it("B44: children that run beside one another are spread over the nodes of a queue; each runs once, and streams through its parent", async () => {
  const clock = manualClock();
  const [store, queue, channel] = [memoryStore({ clock }), memoryQueue(), memoryChannel()];
  const answering = scripted(() => ({ text: "Lisbon.", usage }));
  const all = Promise.withResolvers<void>();
  let begun = 0;
  const together: typeof answering.stream = async function* (request, options) {
    if (++begun === 6) all.resolve();
    await all.promise;
    yield* answering.stream(request, options);
  };
  const researcher = createAgent({ name: "researcher", provider: { ...answering, stream: together } });
  const calls = Array.from({ length: 6 }, (_, at) => ({ name: "researcher", args: { task: `Part ${at}.` } }));
  const nodes = ["a", "b"].map((node) => {
    const provider = scripted(({ messages }) => (messages.at(-1)?.role === "user" ? { calls, usage } : { text: "All read.", usage }));
    const agent = createAgent({ name: "lead", provider, tools: [agentTool({ agent: researcher })], limits: { parallelMax: 6 } });
    return createHost({ node, runtime: createRuntime({ agents: [agent], store, queue, channel, clock, logger: silentLogger }) });
  });
  const stop = runClock(clock, 1);
  const [first] = nodes;
  const hosted = await first?.sessions.create(access, { id: "root" });
  const seen: SessionEvent[] = [];
  hosted?.session.subscribe((events) => void seen.push(...events));
  await hosted?.session.submit("Go.");
  await until(async () => (await store.index.get("team", "root"))?.lastRun?.status === "completed", "the run is over");
  const children = await store.index.list("team", { parent: "root" });
  const claims = await Promise.all(children.map(({ id }) => store.log.read({ scope: "team", session: id })));
  const owners = claims.map((facts) => facts.flatMap((fact) => (fact.type === "owner.claimed" ? fact.node : [])));
  expect(owners).toHaveLength(6);
  expect(owners.every((of) => of.length === 1)).toBe(true);
  expect(new Set(owners.flat())).toEqual(new Set(["a", "b"]));
  expect((await store.index.get("team", "root"))?.usage).toMatchObject({ input: 80, output: 40 });
  const ended = seen.flatMap((event) => (event.type === "agent_delta" && event.event.type === "run_end" ? event.session : []));
  expect(new Set(ended)).toEqual(new Set(children.map(({ id }) => id)));
  hosted?.release();
  stop();
  for (const node of nodes) await node.close();
});
