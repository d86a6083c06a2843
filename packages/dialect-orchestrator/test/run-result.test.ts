import { type AgentEvent, createAgent, createSession, defineTool, execute, type Usage } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import { createSessionReader, toolIterationsOf } from "../src/index.ts";

const look = defineTool({ name: "look", description: "Looks.", parameters: { type: "object" }, execute: () => "a door" });
const usage = { input: 10, output: 5 };
const call = { calls: [{ name: "look" }], usage };

it("B03: two tool calls and three model calls give a result, the last index of the stream, two calls, and three entries of usage", async () => {
  const agent = createAgent({ name: "helper", provider: scripted([call, call, { text: "A door.", usage }]), tools: [look] });
  const session = createSession({ agent, store: memoryStore() });
  const reader = createSessionReader(2);
  const indexes: number[] = [];
  const entries: Usage[] = [];
  session.subscribe((events) => indexes.push(...reader.read(events).flatMap(({ index }) => index ?? [])));
  const stream = execute(session, "Look.");
  for await (const event of stream as AsyncIterable<AgentEvent>) if (event.type === "message_end" && event.usage) entries.push(event.usage);
  const result = await stream.result();
  expect(result.status).toBe("completed");
  expect(indexes.at(-1)).toBe(Math.max(...indexes));
  expect(indexes.at(-1)).toBeGreaterThan(2);
  expect(toolIterationsOf(session.messages).flatMap(({ toolCalls }) => toolCalls)).toHaveLength(2);
  expect(entries).toEqual([usage, usage, usage]);
  expect(result.usage).toEqual({ input: 30, output: 15 });
});
