import { defineTool } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import { scriptedAgent, testServer } from "./test-server.ts";

/** An agent whose tool runs until the test lets it end, or until it is aborted. */
function scene() {
  const started = Promise.withResolvers<void>();
  const end = Promise.withResolvers<string>();
  const look = defineTool({
    name: "look",
    description: "Looks.",
    parameters: { type: "object", properties: {} },
    async execute(_, { signal }) {
      signal.addEventListener("abort", () => end.resolve("aborted"));
      started.resolve();
      return end.promise;
    },
  });
  const provider = scripted([{ calls: [{ name: "look", args: {} }] }, { text: "Done." }]);
  return { ...testServer({ agents: [scriptedAgent([], { provider, tools: [look] })] }), provider, started, end };
}

const rested = async ({ send }: ReturnType<typeof scene>): Promise<string> => (await send("/api/sessions/a/events")).text();

describe("a client that leaves", () => {
  it("B30, B95: ends the loop before the next model call where its request asks for that", async () => {
    const here = scene();
    const json = { sessionId: "a", input: "Look", context: {}, stopsWithStream: true };
    const response = await here.send("/api/agent/execute", { json });
    await here.started.promise;
    await response.body?.cancel();
    const events = await rested(here);
    expect(events).toContain('"status":"aborted"');
    expect(events).toContain("client left");
    expect(here.provider.requests).toHaveLength(1);
  });

  it("B30: stops nothing by default", async () => {
    const here = scene();
    const response = await here.send("/api/agent/execute", { json: { sessionId: "a", input: "Look", context: {} } });
    await here.started.promise;
    await response.body?.cancel();
    here.end.resolve("seen");
    expect(await rested(here)).toContain("Done.");
    expect(here.provider.requests).toHaveLength(2);
  });

  it("B30: and a stream that reaches its end stops nothing", async () => {
    const here = scene();
    const json = { sessionId: "a", input: "Look", context: {}, stopsWithStream: true };
    const response = await here.send("/api/agent/execute", { json });
    await here.started.promise;
    here.end.resolve("seen");
    expect(await response.text()).toContain('"status":"completed"');
    expect(await rested(here)).not.toContain("client left");
  });
});

it("an abort that names a run and an input is refused: they may be two runs", async () => {
  const { ask, refused } = testServer();
  await ask("/api/sessions", { json: { id: "a" } });
  const problem = await refused("/api/sessions/a/abort", { json: { runId: "r", inputKey: "k" } });
  expect(problem).toMatchObject({ status: 400, code: "INPUT_INVALID", detail: expect.stringContaining("inputKey") });
});
