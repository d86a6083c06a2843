import { createAgent, defineTool } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import { orchestratorDialect } from "@loopwright/dialect-orchestrator";
import { createRuntime } from "@loopwright/host";
import { createServer } from "@loopwright/server";
import { expect, it } from "vitest";

const look = defineTool({ name: "look", description: "Looks.", parameters: { type: "object" }, execute: () => "a door" });

it.each([1, 2])("B64, B106: a request with stream version %i gets the whole text in the frames of that version", async (streamVersion) => {
  const provider = scripted([{ text: "I look.", calls: [{ name: "look" }] }, { text: "A door." }]);
  const agent = createAgent({ name: "helper", provider, tools: [look] });
  const server = createServer({
    runtime: createRuntime({ agents: [agent], store: memoryStore() }),
    insecure: true,
    dialects: [orchestratorDialect(1), orchestratorDialect(2)],
    streamVersions: { 1: "orchestrator-v1", 2: "orchestrator-v2" },
  });
  const body = JSON.stringify({ context: {}, input: "Look.", streamVersion });
  const headers = { "Content-Type": "application/json", Host: "localhost" };
  const response = await server.fetch(new Request("http://localhost/api/agent/execute", { method: "POST", headers, body }));
  const frames = (await response.text()).split("\n\n").flatMap((frame) => {
    const [, event = "", data = ""] = /event: (.*)\ndata: (.*)/.exec(frame) ?? [];
    return event === "" ? [] : [{ event, data: JSON.parse(data) as { readonly text?: string; readonly index?: number } }];
  });
  const texts = frames.filter(({ event }) => event === "text").map(({ data }) => data.text);
  expect(texts.join("")).toBe("I look.A door.");
  const names = frames.map(({ event }) => event);
  expect(names).toEqual(expect.arrayContaining(["toolCalls", "toolCallResult", "end"]));
  expect(names.includes("progress")).toBe(streamVersion === 2);
  const indexes = frames.flatMap(({ data }) => data.index ?? []);
  expect(indexes.length > 0).toBe(streamVersion === 2);
  expect(indexes).toEqual([...indexes].sort((one, other) => one - other));
  await server.close();
});
