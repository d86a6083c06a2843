import { createAgent, defineTool } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { createRuntime } from "@loopwright/host";
import { createServer } from "@loopwright/server";
import { expect, test } from "vitest";
import { protocolRoutes } from "./protocols.ts";

const skills = [
  { name: "kubernetes", description: "Looks after\n  a cluster." },
  { name: "weather", description: "Knows the sky." },
];

async function cards({ isSecured = false, given = skills } = {}): Promise<(agent: string) => Promise<unknown>> {
  const reader = defineTool({ name: "read_skill", description: "Reads.", parameters: { type: "object" }, execute: () => "" });
  const agents = [
    createAgent({ name: "assistant", provider: scripted([]), tools: [reader] }),
    createAgent({ name: "plain", provider: scripted([]) }),
  ];
  const routes = await protocolRoutes(["a2a"], { agents, skills: given, isSecured });
  const server = createServer({ runtime: createRuntime({ agents }), routes });
  return async (agent) => {
    const response = await server.fetch(
      new Request(`http://localhost/a2a/${agent}/agent-card.json`, { headers: { "A2A-Version": "1.0" } }),
      {
        remoteAddress: "127.0.0.1",
      },
    );
    return response.json();
  };
}

test("C73: The card of an agent has the skills of its folder, and that of an agent without skills has the agent alone", async () => {
  const card = await cards();
  expect(await card("assistant")).toMatchObject({
    skills: [
      { id: "kubernetes", name: "kubernetes", description: "Looks after a cluster.", tags: ["kubernetes"] },
      { id: "weather", name: "weather", description: "Knows the sky.", tags: ["weather"] },
    ],
  });
  expect(await card("plain")).toMatchObject({ skills: [{ id: "plain" }] });
  expect(await (await cards({ given: [] }))("assistant")).toMatchObject({ skills: [{ id: "assistant" }] });
});

test("C73: A card names bearer tokens where callers need them, and nothing where they do not", async () => {
  expect(await (await cards({ isSecured: true }))("assistant")).toMatchObject({
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: "bearer" } } },
  });
  expect(await (await cards())("assistant")).not.toHaveProperty("securitySchemes");
});
