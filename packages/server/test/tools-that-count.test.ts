import { createClient } from "@loopwright/client";
import { createAgent, defineTool } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import { openStreamDoor } from "./stream-door.ts";

it("the tools of an agent are listed with whether their calls count against its limit", async () => {
  const tool = (name: string, more = {}) =>
    defineTool({ name, description: "Does it.", parameters: { type: "object" }, execute: () => "done", ...more });
  const agent = createAgent({ name: "helper", provider: scripted([]), tools: [tool("look"), tool("plan", { counts: false })] });
  const door = openStreamDoor({ agents: [agent], store: memoryStore() });
  const client = createClient({ url: "http://localhost", fetch: (...args) => door.fetch(new Request(...args)) });
  const listed = { description: "Does it.", home: "server" };
  const tools = [
    { ...listed, name: "look" },
    { ...listed, name: "plan", counts: false },
  ];
  expect((await client.agents()).agents[0]?.tools).toEqual(tools);
  expect(await (await door.fetch(new Request("http://localhost/api/tools"))).json()).toEqual({ tools });
  await door.close();
});
