import {
  type Agent,
  type AgentError,
  type AgentPrompt,
  agentTool,
  createAgent,
  createSession,
  defineTool,
  execute,
  type Fact,
  type FactOf,
  type Tool,
} from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import { firstDifference, firstDivergence } from "./divergence.ts";
import { replaySession } from "./replay-session.ts";

const session = "s1";
const search = defineTool({
  name: "search",
  description: "Searches the handbook.",
  parameters: { type: "object", properties: { words: { type: "string" } }, required: ["words"] },
  execute: () => "Holidays: 30 days.",
});

function handbook(prompt: AgentPrompt, execute: () => unknown = () => "Holidays: 30 days."): Agent {
  const model = scripted([
    { thinking: "Hm.", calls: [{ name: "search", args: { words: "holidays" } }], usage: { input: 20, output: 9 } },
    { text: "You have 30 days.", usage: { input: 40, output: 6 } },
    { text: "You are welcome.", usage: { input: 60, output: 4 } },
  ]);
  return createAgent({ name: "handbook", provider: model, prompt, tools: [{ ...search, execute }] });
}

async function record(agent: Agent, inputs: readonly string[]): Promise<readonly Fact[]> {
  const store = memoryStore();
  const handle = createSession({ agent, store, id: session });
  for (const input of inputs) await execute(handle, input).result();
  return store.log.read({ scope: "local", session });
}

const inputs = ["How many holidays?", "Thank you."];

/** A provider and a tool that must not be called. */
const silent = (prompt: AgentPrompt): Agent =>
  createAgent({
    ...handbook(prompt, () => {
      throw new Error("The tool ran.");
    }),
    provider: scripted([]),
  });

it("a recorded session gives the same log again, without a call of its model or its tools", async () => {
  const facts = await record(handbook("Be brief."), inputs);
  expect(await replaySession({ facts, agent: silent("Be brief."), session })).toEqual({ isIdentical: true, equal: facts.length });
  expect(facts.length).toBeGreaterThan(10);
});

it("another prompt diverges at the start of the run, and one that is computed at the first request that has it", async () => {
  const facts = await record(handbook("Be brief."), inputs);
  const changed = await replaySession({ facts, agent: silent("Be verbose."), session });
  expect(changed).toMatchObject({ isIdentical: false, divergence: { recorded: { type: "run.started" }, members: ["agentDigest"] } });

  const computed = await record(
    handbook(() => "Be brief."),
    inputs,
  );
  const { divergence, equal } = await replaySession({ facts: computed, agent: silent(() => "Be verbose."), session });
  expect(divergence?.recorded?.type).toBe("model.started");
  expect(divergence?.members).toEqual(["requestDigest"]);
  expect(divergence?.seq).toBe(equal + 1);
});

it("a tool of another policy diverges at the start of the run", async () => {
  const facts = await record(handbook("Be brief."), inputs);
  const agent = createAgent({ ...silent("Be brief."), tools: [{ ...search, replay: "pure" }] });
  const { divergence } = await replaySession({ facts, agent, session });
  expect(divergence?.recorded?.type).toBe("run.started");
  expect(divergence?.members).toContain("tools.search.replay");
});

it("a hook that now denies a call diverges where the call began", async () => {
  const gated = (agent: Agent, action: "allow" | "deny"): Agent =>
    createAgent({ ...agent, hooks: [{ name: "strict", gate: () => ({ action, reason: "Not now." }) }] });
  const facts = await record(gated(handbook("Be brief."), "allow"), inputs);
  expect(await replaySession({ facts, agent: gated(silent("Be brief."), "allow"), session })).toMatchObject({ isIdentical: true });
  const { divergence } = await replaySession({ facts, agent: gated(silent("Be brief."), "deny"), session });
  expect([divergence?.recorded?.type, divergence?.replayed?.type]).toEqual(["tool.started", "tool.finished"]);
});

it("a failed tool and a failed model call are replayed with their failures", async () => {
  const failing = handbook("Be brief.", () => {
    throw new Error("The shelf is empty.");
  });
  const broken = createAgent({ name: "broken", provider: scripted([{ text: "I was about", error: "MODEL_AUTH" }]) });
  const failed = await record(failing, inputs);
  const ended = await record(broken, ["Hello?"]);
  expect(await replaySession({ facts: failed, agent: silent("Be brief."), session })).toMatchObject({ isIdentical: true });
  const agent = createAgent({ name: "broken", provider: scripted([]) });
  expect(await replaySession({ facts: ended, agent, session })).toMatchObject({ isIdentical: true });
  expect(ended.at(-1)).toMatchObject({ type: "run.finished", status: "failed" });
});

it("a log with a gap or of nothing is refused with its reason", async () => {
  const facts = await record(handbook("Be brief."), inputs);
  for (const [wrong, reason] of [
    [facts.filter(({ seq }) => seq !== 3), /Fact 3 of the log has the number 4/],
    [[], /no `session.opened`/],
  ] as const) {
    const refused = (await replaySession({ facts: wrong, agent: silent("Be brief."), session }).catch(
      (error: unknown) => error,
    )) as AgentError;
    expect([refused.code, refused.message]).toEqual(["CONFIG_INVALID", expect.stringMatching(reason)]);
  }
});

it("a session with a child is replayed from its own log, and the child from its log", async () => {
  const below = createAgent({ name: "below", provider: scripted([{ text: "Found it." }]) });
  const above = (provider: ReturnType<typeof scripted>): Agent =>
    createAgent({ name: "above", provider, tools: [agentTool({ agent: below }) as Tool] });
  const agent = above(scripted([{ calls: [{ name: "below", args: { task: "Find it." } }] }, { text: "It is there." }]));
  const store = memoryStore();
  await execute(createSession({ agent, store, id: session }), "Where is it?").result();
  const facts = await store.log.read({ scope: "local", session });
  const linked = facts.find((fact): fact is FactOf<"child.linked"> => fact.type === "child.linked");
  expect(await replaySession({ facts, agent: above(scripted([])), session })).toEqual({ isIdentical: true, equal: facts.length });

  const child = linked?.session ?? "";
  const own = await store.log.read({ scope: "local", session: child });
  const silenced = createAgent({ ...below, provider: scripted([]) });
  expect(await replaySession({ facts: own, agent: silenced, session: child })).toEqual({ isIdentical: true, equal: own.length });
});

it("two logs are compared fact by fact, without what a process measured", async () => {
  const facts = await record(handbook("Be brief."), inputs);
  const at = facts.findIndex(({ type }) => type === "model.finished");
  const slower = facts.map((fact) => (fact.type === "model.finished" ? { ...fact, timings: { totalMs: 9_000 } } : fact));
  expect(firstDivergence(facts, slower)).toBeUndefined();
  const other = facts.map((fact) => (fact.type === "model.finished" ? { ...fact, stopReason: "length" as const } : fact));
  expect(firstDivergence(facts, other)).toMatchObject({ seq: at + 1, members: ["stopReason"] });
  expect(firstDivergence(facts, facts.slice(0, -1))).toEqual({ seq: facts.length, recorded: facts.at(-1), members: [] });
});

it("two conversations are compared message by message, without ids and usage", () => {
  const question = { id: "2", message: { role: "user", content: "How many?" } } as const;
  const answer = (id: string, text: string) =>
    ({ id, message: { role: "assistant", content: [{ type: "text", text }], stopReason: "stop" } }) as const;
  const same = [question, { ...answer("4", "30."), message: { ...answer("4", "30.").message, usage: { input: 1, output: 2 } } }];
  expect(firstDifference(same, [{ ...question, id: "9" }, answer("7", "30.")])).toBeUndefined();
  expect(firstDifference(same, [question, answer("7", "28.")])).toMatchObject({ place: 1, members: ["content.0.text"] });
  expect(firstDifference(same, [question])).toEqual({ place: 1, one: same[1], members: [] });
});
