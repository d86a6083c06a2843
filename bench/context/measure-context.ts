/* One scene in a process of its own: `measure-context.ts <scene> <place>`. Prints JSON. */
import { contextEngine, lightCounter } from "@loopwright/context";
import { type Agent, type AgentSession, createAgent, createSession, defineTool, execute, type ModelChunk } from "@loopwright/core";
import type { ModelProvider, ModelRequest, SessionStore } from "@loopwright/core/ports";
import { modelName, systemPrompt } from "../contenders/contender.ts";
import { openStore } from "../durable/store-place.ts";
import { compared, contextScenes, windowTokens } from "./context-scenes.ts";

/** What a turn costs on average, early and late in the session. */
export interface ContextFigures {
  readonly youngCpuUs: number;
  readonly oldCpuUs: number;
  readonly youngTokens: number;
  readonly oldTokens: number;
  readonly compactions: number;
}

/** What the requests of a session have had so far, in estimated tokens. */
interface Meter {
  tokens: number;
}

const look = defineTool({
  name: "look",
  description: "Looks at a place.",
  parameters: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
  replay: "pure",
  // Small, middling, and now and then far too large.
  execute: ({ n }: { readonly n: number }) => "seen ".repeat(n % 10 === 0 ? 900 : 20 + (n % 7) * 10),
});

/** Calls the tool for every question, and answers its result. It counts what it is sent, which a vendor does too. */
function meteredModel(meter: Meter): ModelProvider {
  const counter = lightCounter();
  const sizes = new WeakMap<object, number>();
  const sizeOf = (message: ModelRequest["messages"][number]): number => {
    const known = sizes.get(message);
    if (known !== undefined) return known;
    const made = Number(counter.count(modelName, message));
    sizes.set(message, made);
    return made;
  };
  let calls = 0;
  const call = (): readonly ModelChunk[] => [
    { type: "call-start", index: 0, id: `call_${++calls}`, name: look.name },
    { type: "call-args", index: 0, delta: JSON.stringify({ n: calls }) },
    { type: "call-end", index: 0 },
    { type: "end", stopReason: "tool_calls", raw: "tool_calls" },
  ];
  const answer: readonly ModelChunk[] = [
    { type: "text", index: 0, delta: `It looks as it did before. ${"word ".repeat(30)}` },
    { type: "end", stopReason: "stop", raw: "stop" },
  ];
  return {
    name: "bench",
    defaultModel: modelName,
    capabilities: () => ({ streaming: true, tools: true, vision: false, promptCaching: false, contextTokens: windowTokens }),
    async *stream({ messages }): AsyncGenerator<readonly ModelChunk[], void> {
      for (const message of messages) meter.tokens += sizeOf(message);
      yield messages.at(-1)?.role === "tool_result" ? answer : call();
    },
  };
}

async function talk(session: AgentSession, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    const { status, error } = await execute(session, `What is there to see, number ${turn}?`).result();
    if (status !== "completed") throw error ?? new Error(status);
  }
}

async function measureContext(store: SessionStore): Promise<ContextFigures> {
  const meter: Meter = { tokens: 0 };
  const agent: Agent = createAgent({
    name: "bench",
    provider: meteredModel(meter),
    prompt: systemPrompt,
    tools: [look],
    context: contextEngine(),
  });
  // The old session comes first, so that the process is hot for both; then they take turns, so that the same machine measures both.
  const old = createSession({ agent, store, id: "old" });
  const young = createSession({ agent, store, id: "young" });
  await talk(old, compared.old);
  await talk(young, compared.young);
  const spent = { young: { cpuUs: 0, tokens: 0 }, old: { cpuUs: 0, tokens: 0 } };
  for (let turn = 0; turn < compared.width; turn += compared.atOnce)
    for (const [session, sum] of [
      [young, spent.young],
      [old, spent.old],
    ] as const) {
      meter.tokens = 0;
      const before = process.cpuUsage();
      await talk(session, compared.atOnce);
      const { user, system } = process.cpuUsage(before);
      sum.cpuUs += user + system;
      sum.tokens += meter.tokens;
    }
  const facts = await store.log.read({ scope: "local", session: old.id });
  const compactions = facts.filter(({ type }) => type === "context.compacted").length;
  if (old.messages.length !== 4 * (compared.old + compared.width)) throw new Error(`It has ${old.messages.length} messages.`);
  if (compactions < compared.old / 100) throw new Error(`There were ${compactions} compactions: the session did not fill its window.`);
  return {
    youngCpuUs: spent.young.cpuUs / compared.width,
    oldCpuUs: spent.old.cpuUs / compared.width,
    youngTokens: spent.young.tokens / compared.width,
    oldTokens: spent.old.tokens / compared.width,
    compactions,
  };
}

const [sceneId, place] = process.argv.slice(2);
if (!contextScenes.some(({ id }) => id === sceneId) || place === undefined) throw new Error("Usage: measure-context.ts <scene> <place>");
const store = openStore(place);
const figures = await measureContext(store);
await store.close();
process.stdout.write(JSON.stringify(figures), () => process.exit(0));
