import { describe, expect, it } from "vitest";
import {
  type Agent,
  type AgentSession,
  agentTool,
  createAgent,
  createSession,
  defineTool,
  type ExecuteResult,
  execute,
  resume,
} from "../src/index.ts";
import { type ManualClock, manualClock, memoryStore, scripted, seededIds } from "../src/memory/index.ts";
import type { SessionStore } from "../src/ports/index.ts";
import { type Death, type DyingStore, dyingStore } from "./dying-store.ts";
import { calm } from "./harness.ts";

/** A model that makes this call first, and answers when it has the result. The same at each attempt. */
const calling = (call: object) =>
  scripted((({ messages }: { readonly messages: readonly { readonly role: string }[] }) =>
    messages.some(({ role }) => role === "tool_result") ? { text: "done", usage: { input: 10, output: 1 } } : { calls: [call] }) as never);
const task = (name: string): object => ({ name, args: { task: "Do it." } });

/** Three agents above one another; the tool at the bottom needs approval and runs once. */
function tree(runs: string[]): Agent {
  const remove = defineTool({
    name: "remove",
    description: "Removes.",
    parameters: { type: "object" },
    approval: true,
    execute: (_, { callKey }) => void runs.push(callKey),
  });
  const bottom = createAgent({ name: "bottom", provider: calling({ name: "remove" }), tools: [remove] });
  const middle = createAgent({ name: "middle", provider: calling(task("bottom")), tools: [agentTool({ agent: bottom })] });
  return createAgent({ name: "root", provider: calling(task("middle")), tools: [agentTool({ agent: middle })] });
}

interface Place {
  readonly store: SessionStore;
  readonly clock: ManualClock;
  readonly runs: string[];
  nodes: number;
}

function boot(place: Place, death?: Death): { readonly store: DyingStore; readonly session: AgentSession } {
  const store = dyingStore(place.store, death);
  const node = ++place.nodes;
  const session = createSession({ agent: tree(place.runs), id: "root", store, clock: place.clock, ids: seededIds(node), node: `n${node}` });
  return { store, session };
}

/** Waits until it is settled or its process is dead; timers fire meanwhile. `undefined`: it is dead. */
async function outcome<T>(
  promise: Promise<T>,
  { store, clock }: { readonly store: DyingStore; readonly clock: ManualClock },
): Promise<T | undefined> {
  const ended: { value?: T; error?: unknown } = {};
  promise.then(
    (value) => Object.assign(ended, { value }),
    (error: unknown) => Object.assign(ended, { error }),
  );
  while (!("value" in ended) && !("error" in ended) && !store.isDead) {
    // Ids are digests, which are made beside the event loop.
    await crypto.subtle.digest("SHA-256", new Uint8Array());
    await calm();
    if (!("value" in ended) && !store.isDead) clock.advance(250);
  }
  if (store.isDead) return undefined;
  if ("error" in ended) throw ended.error;
  return ended.value;
}

const begin = async (session: AgentSession): Promise<ExecuteResult> => {
  await session.ready();
  return (session.lastSeq === 0 ? execute(session, "Go.") : resume(session)).result();
};

const decide = async (session: AgentSession): Promise<ExecuteResult> => {
  await session.ready();
  const [approval] = session.pendingApprovals;
  if (!approval) return resume(session).result();
  return (await session.decide(approval.callKey, { decision: "allow" })).stream().result();
};

/** The next process repeats this step after a process that dies at the given append. True if that process died. */
async function step(place: Place, act: (session: AgentSession) => Promise<ExecuteResult>, death?: Death): Promise<boolean> {
  const { clock } = place;
  const first = boot(place, death);
  await outcome(act(first.session), { store: first.store, clock });
  const { isDead } = first.store;
  if (!isDead) {
    await first.session[Symbol.asyncDispose]();
    return false;
  }
  clock.advance(20_001);
  const next = boot(place);
  await outcome(act(next.session), { store: next.store, clock });
  await next.session[Symbol.asyncDispose]();
  return true;
}

async function typesIn({ store }: Place, session: string): Promise<readonly string[]> {
  return (await store.log.read({ scope: "local", session })).map(({ type }) => type);
}

async function play(deaths: { readonly begin?: Death; readonly decide?: Death }): Promise<boolean> {
  const clock = manualClock();
  const place: Place = { store: memoryStore({ clock }), clock, runs: [], nodes: 0 };
  const died = [await step(place, begin, deaths.begin)];
  expect(place.runs).toEqual([]);
  expect(await place.store.log.due({ now: Number.MAX_SAFE_INTEGER })).toEqual([]);
  died.push(await step(place, decide, deaths.decide));
  let session = "root";
  for (let depth = 0; depth < 3; depth++) {
    const facts = await place.store.log.read({ scope: "local", session });
    const count = (type: string): number => facts.filter((fact) => fact.type === type).length;
    expect([depth, count("input.accepted"), count("run.finished"), count("child.linked")]).toEqual([depth, 1, 1, depth < 2 ? 1 : 0]);
    const link = facts.find(({ type }) => type === "child.linked");
    if (link?.type === "child.linked") session = link.session;
  }
  expect((await typesIn(place, session)).filter((type) => type === "approval.decided")).toHaveLength(1);
  expect(place.runs.length).toBeLessThanOrEqual(1);
  return died.includes(true);
}

describe("row 31: a tree three deep whose process dies", () => {
  it.each(["before", "after"] as const)(
    "%s any append until it waits: it waits for one approval, and nothing is begun twice",
    async (when) => {
      let deaths = 0;
      for (let at = 1; await play({ begin: { at, when } }); at++) deaths++;
      expect(deaths).toBeGreaterThan(8);
    },
  );

  it.each(["before", "after"] as const)(
    "%s any append after the decision: the answer reaches the bottom once, and each run ends",
    async (when) => {
      let deaths = 0;
      for (let at = 1; await play({ decide: { at, when } }); at++) deaths++;
      expect(deaths).toBeGreaterThan(10);
    },
  );
});
