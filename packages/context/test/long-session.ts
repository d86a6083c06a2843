import { defineTool, execute, type Hooks, type Message } from "@loopwright/core";
import type { ScriptedTurn } from "@loopwright/core/memory";
import type { ContextCall, ContextEngine, ModelRequest, SessionContext } from "@loopwright/core/ports";
import { contextEngine, lightCounter } from "../src/index.ts";
import { world } from "./harness.ts";

/** The window of the model in `playLongSession`, in tokens. */
export const windowTokens = 3_000;

/** What one turn of a session cost: an input, a call of a tool, and an answer. */
export interface TurnCost {
  /** Messages that the engine looked at. */
  readonly looks: number;
  /** Tokens that the model was sent. */
  readonly tokens: number;
}

export interface LongSession {
  readonly turns: readonly TurnCost[];
  readonly requests: readonly ModelRequest[];
  readonly compactions: number;
}

/** A list that counts how often its members are read. */
function counted<Item>(list: readonly Item[], look: () => void): readonly Item[] {
  return new Proxy(list as Item[], {
    get(target, name) {
      if (typeof name === "string" && /^\d+$/.test(name)) look();
      return Reflect.get(target, name);
    },
  });
}

/** The engine, counting the messages that it looks at. The same list is the same counted list. */
function countingEngine(engine: ContextEngine, look: () => void): ContextEngine {
  const known = new WeakMap<object, object>();
  const of = <Item>(list: readonly Item[]): readonly Item[] => {
    const made = (known.get(list) as readonly Item[] | undefined) ?? counted(list, look);
    known.set(list, made);
    return made;
  };
  const seen = (call: ContextCall): ContextCall => ({
    ...call,
    history: { messages: of(call.history.messages), ids: of(call.history.ids) },
  });
  return {
    open(): SessionContext {
      const context = engine.open();
      return { prepare: (call, io) => context.prepare?.(seen(call), io), fit: (call) => context.fit(seen(call)) };
    },
  };
}

/** Examples, and a hook that adds to each request in front of, inside and behind the conversation. */
export const addingHooks: Hooks = {
  name: "adding",
  prepare: ({ turn }) => ({ examples, inputPrefix: "Passage. ", reminders: turn === 2 ? ["Draw the results together."] : [] }),
};

/** Each with a call and its result. */
export const examples: readonly Message[] = Array.from({ length: 3 }, (_, at): readonly Message[] => [
  { role: "user", content: `Example ${at}.` },
  {
    role: "assistant",
    content: [{ type: "tool_call", id: `example${at}`, callKey: `example${at}`, name: "look", args: { n: at } }],
    stopReason: "tool_calls",
  },
  { role: "tool_result", toolCallId: `example${at}`, callKey: `example${at}`, toolName: "look", content: "seen", outcome: "ok" },
  { role: "assistant", content: [{ type: "text", text: `Answer to example ${at}. ${"word ".repeat(20)}` }], stopReason: "stop" },
]).flat();

/** One session of so many turns, each with a call of a tool whose result is small, middling or far too large. */
export async function playLongSession(turns: number, hooks: readonly Hooks[] = []): Promise<LongSession> {
  let looks = 0;
  let tokens = 0;
  const requests: ModelRequest[] = [];
  const counter = lightCounter();
  const look = defineTool({
    name: "look",
    description: "Looks.",
    parameters: { type: "object", properties: { n: { type: "number" } } },
    execute: ({ n }: { n: number }) => "seen ".repeat(n % 10 === 0 ? 900 : 20 + (n % 7) * 10),
  });
  const script = (request: ModelRequest, call: number): ScriptedTurn => {
    requests.push({ ...request, messages: [...request.messages] });
    for (const message of request.messages) tokens += Number(counter.count("any", message));
    return call % 2 === 1 ? { calls: [{ name: "look", args: { n: call } }] } : { text: `Answer ${call}. ${"word ".repeat(30)}` };
  };
  const { session, store } = world(script, {
    tools: [look],
    hooks,
    contextTokens: windowTokens,
    context: countingEngine(contextEngine(), () => looks++),
  });
  const costs: TurnCost[] = [];
  for (let turn = 0; turn < turns; turn++) {
    [looks, tokens] = [0, 0];
    const { status } = await execute(session, `Question ${turn}.`).result();
    if (status !== "completed") throw new Error(`Turn ${turn} ended as ${status}.`);
    costs.push({ looks, tokens });
  }
  const facts = await store.log.read({ scope: "local", session: session.id });
  return { turns: costs, requests, compactions: facts.filter(({ type }) => type === "context.compacted").length };
}

/** The mean over the turns from `from` on. */
export function meanOf(turns: readonly TurnCost[], which: keyof TurnCost, from: number, count: number): number {
  const some = turns.slice(from, from + count);
  return some.reduce((sum, turn) => sum + turn[which], 0) / some.length;
}

/** What a request has that no vendor takes, in words: see `ModelRequest`. */
export function flawsOf({ messages }: ModelRequest): readonly string[] {
  const flaws: string[] = [];
  if (messages[0]?.role !== "user") flaws.push("begins with no input");
  if (messages.at(-1)?.role === "assistant") flaws.push("ends with an answer");
  messages.forEach((message, at) => {
    if (message.role === "tool_result") {
      let before = at;
      while (messages[before]?.role === "tool_result") before--;
      const answer = messages[before];
      const calls = answer?.role === "assistant" ? answer.content.flatMap((part) => (part.type === "tool_call" ? [part.callKey] : [])) : [];
      if (calls[at - before - 1] !== message.callKey) flaws.push(`result ${at} is not of the call before it`);
    }
    if (message.role !== "assistant") return;
    const count = message.content.filter(({ type }) => type === "tool_call").length;
    for (let next = 1; next <= count; next++) if (messages[at + next]?.role !== "tool_result") flaws.push(`call ${at} has no result`);
    if (messages[at + 1]?.role === "assistant") flaws.push(`two answers at ${at}`);
  });
  if (messages.some((message) => "content" in message && message.content.length === 0)) flaws.push("has an empty message");
  return flaws;
}
