import { type Agent, agentTool, createAgent, defineTool, type Tool, textOf } from "@loopwright/core";
import { type ManualClock, manualClock, memoryQueue, memoryStore, scripted, seededIds, silentLogger } from "@loopwright/core/memory";
import type { RunQueue, SessionStore } from "@loopwright/core/ports";
import { describe, expect, it } from "vitest";
import { type Death, type DyingStore, dyingStore } from "../../core/test/dying-store.ts";
import { createHost, createRuntime, type Host } from "../src/index.ts";
import { runClock, until } from "./turn-of-loop.ts";

const access = { user: "anne", scope: "team" };
const usage = { input: 10, output: 5 };
const ref = (session: string) => ({ scope: "team", session });

const sign = defineTool({ name: "sign", description: "Signs.", parameters: { type: "object" }, approval: true, execute: () => "signed" });

/** An agent at the top above `levels` agents that wait for one another; the last of them has a clerk in the background, that needs a person. */
function top(levels: number): Agent {
  const clerk = createAgent({
    name: "clerk",
    tools: [sign] as Tool[],
    provider: scripted(({ messages }) =>
      messages.at(-1)?.role === "user" ? { calls: [{ name: "sign" }], usage } : { text: "Signed.", usage },
    ),
  });
  let below: Tool = agentTool({ agent: clerk, background: true }) as Tool;
  for (let level = levels; level >= 0; level--) {
    const { name } = below;
    const agent = createAgent({
      name: `level${level}`,
      tools: [below],
      provider: scripted(({ messages }) => {
        const last = messages.at(-1);
        const asked = last?.role === "user" ? textOf(last) : "";
        if (asked.startsWith("The agent")) return { text: `Read: ${asked.split("\n\n")[1]}`, usage };
        if (last?.role === "user") return { calls: [{ name, args: { task: "Go." } }], usage };
        return { text: last ? textOf(last) : "", usage };
      }),
    });
    if (level === 0) return agent;
    below = agentTool({ agent }) as Tool;
  }
  throw new Error("There is no agent at the top.");
}

interface Place {
  readonly store: SessionStore;
  readonly queue: RunQueue;
  readonly clock: ManualClock;
  readonly levels: number;
  nodes: number;
}

function boot(place: Place, death?: Death): { readonly host: Host; readonly dying: DyingStore } {
  const { store, queue, clock, levels } = place;
  const dying = dyingStore(store, death);
  const node = ++place.nodes;
  const runtime = createRuntime({ agents: [top(levels)], store: dying, queue, clock, ids: seededIds(node), logger: silentLogger });
  return { dying, host: createHost({ runtime, node: `n${node}` }) };
}

/** The sessions from the top down. */
async function line({ store }: Place): Promise<readonly string[]> {
  const ids = ["root"];
  for (let id: string | undefined = "root"; id !== undefined; ) {
    const below: readonly { readonly id: string }[] = await store.index.list("team", { parent: id });
    id = below[0]?.id;
    if (id !== undefined) ids.push(id);
  }
  return ids;
}

const isDone = async ({ store, clock }: Place): Promise<boolean> =>
  (await store.index.get("team", "root"))?.lastRun !== undefined && (await store.log.due({ now: clock.now() })).length === 0;

/** Everything waits: the sessions that run here and the leases that are held. */
async function held(place: Place, host: Host): Promise<readonly [number, number]> {
  const heads = await Promise.all((await line(place)).map((id) => place.store.log.head(ref(id))));
  return [host.running, heads.filter(({ lease }) => lease !== undefined).length];
}

/** A tree up to the rest of all its sessions, in a process that ends then. Resolves with the id of the clerk. */
async function rest(place: Place): Promise<string> {
  const { host } = boot(place);
  const hosted = await host.sessions.create(access, { id: "root" });
  await hosted.session.submit("Go.");
  hosted.release();
  await until(
    async () => (await place.store.index.get("team", "root"))?.waitsFor?.includes("children") === true,
    "the top waits for a child",
  );
  await until(async () => (await held(place, host)).every((count) => count === 0), "no process is held");
  expect(await place.store.log.due({ now: place.clock.now() })).toEqual([]);
  await host.close();
  return (await line(place)).at(-1) ?? "";
}

async function decide(host: Host, clerk: string): Promise<void> {
  const hosted = await host.sessions.open(ref(clerk));
  await hosted.session.ready();
  const [approval] = hosted.session.pendingApprovals;
  if (approval) await hosted.session.decide(approval.callKey, { decision: "allow" });
  hosted.release();
}

async function check(place: Place): Promise<void> {
  const ids = await line(place);
  const summaries = await Promise.all(ids.map((id) => place.store.index.get("team", id)));
  expect(summaries.map((summary) => summary?.lastRun?.status)).toEqual(ids.map(() => "completed"));
  const logs = await Promise.all(ids.map((id) => place.store.log.read(ref(id))));
  const calls = logs.flat().filter(({ type }) => type === "model.finished").length;
  expect(summaries[0]?.usage?.input).toBe(calls * usage.input);
  const last = logs[0]?.findLast((fact) => fact.type === "model.finished");
  expect(last?.type === "model.finished" && textOf(last.message)).toBe("Read: Signed.");
  for (const facts of logs.slice(1)) expect(facts.filter(({ type }) => type === "session.opened")).toHaveLength(1);
}

function placed(levels: number): { readonly place: Place; readonly stop: () => void } {
  const clock = manualClock();
  const place: Place = { store: memoryStore({ clock }), queue: memoryQueue(), clock, levels, nodes: 0 };
  return { place, stop: runClock(clock, 50) };
}

describe("a session that waits for a child that waits for a child in the background that waits for a person", () => {
  it.each([1, 2])("D55: holds no process, %i levels above it, and continues in another one once the person has decided", async (levels) => {
    const { place, stop } = placed(levels);
    const clerk = await rest(place);
    const { host } = boot(place);
    await decide(host, clerk);
    await until(() => isDone(place), "the top has ended");
    await check(place);
    await host.close();
    stop();
  });

  it.each(["before", "after"] as const)(
    "D55: 31: a process that dies %s any append after the decision: the next one continues the tree",
    async (when) => {
      let deaths = 0;
      for (let at = 1, hasDied = true; hasDied; at++) {
        const { place, stop } = placed(1);
        const clerk = await rest(place);
        const first = boot(place, { at, when });
        void decide(first.host, clerk).catch(() => {});
        await until(async () => first.dying.isDead || (await isDone(place)), "the process dies, or all is done");
        hasDied = first.dying.isDead;
        if (hasDied) {
          deaths++;
          place.clock.advance(20_001);
          const next = boot(place);
          await decide(next.host, clerk);
          await until(() => isDone(place), `all is done after a death ${when} append ${at}`);
          await next.host.close();
        } else await first.host.close();
        await check(place);
        stop();
      }
      expect(deaths).toBeGreaterThan(5);
    },
  );
});
