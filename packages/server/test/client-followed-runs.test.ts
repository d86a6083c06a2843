import { defineTool } from "@loopwright/core";
import type { AgentEvent, ExecuteStream } from "@loopwright/core/protocol";
import { describe, expect, it } from "vitest";
import { type ClientScene, type ClientSceneOptions, clientScene } from "./client-scene.ts";

const remove = defineTool({
  name: "remove",
  description: "Removes a file.",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  execute: ({ path }) => `removed ${path}`,
});
const pick = defineTool({ name: "pick", description: "Asks the person.", parameters: { type: "object" } });
const asking: Pick<ClientSceneOptions, "tools" | "hooks"> = {
  tools: [remove],
  hooks: [{ name: "approve", gate: () => ({ action: "ask" }) }],
};
const call = (path: string) => ({ name: "remove", args: { path } });

const eventsOf = async (stream: ExecuteStream): Promise<readonly AgentEvent[]> => {
  const events: AgentEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
};

async function waiting({ client }: ClientScene) {
  const asked = client.execute("Tidy up", { sessionId: "s", context: {}, runTools: false });
  return asked.result();
}

describe.each([undefined, 7])("what a client records (cuts: %s)", (cuts) => {
  const scene = (options: ClientSceneOptions): ClientScene => clientScene({ ...options, ...(cuts === undefined ? {} : { cuts }) });

  it("a decision gives the stream of what the run does then, as in the process of the session", async () => {
    await using server = scene({ ...asking, script: [{ calls: [call("a")] }, { text: "It is gone for good.", usage: { output: 5 } }] });
    const { pendingApprovals: [approval] = [] } = (await waiting(server)) as {
      pendingApprovals?: { callKey: string; argsDigest: string }[];
    };
    const accepted = await server.client.sessions.decide("s", approval?.callKey ?? "", {
      decision: "allow",
      argsDigest: approval?.argsDigest ?? "",
    });
    const stream = accepted.stream();
    const events = await eventsOf(stream);
    const result = await stream.result();
    expect(result).toMatchObject({
      status: "completed",
      text: "It is gone for good.",
      finishReason: "stop",
      runId: accepted.runId,
      usage: { output: 5 },
    });
    expect(result.messages.map(({ role }) => role)).toEqual(["tool_result", "assistant"]);
    const types = events.map(({ type }) => type);
    expect([types[0], types[1], ...types.slice(-3)]).toEqual([
      "session_start",
      "approval_decided",
      "run_end",
      "session_end",
      "execute_complete",
    ]);
    const text = events.map((event) => (event.type === "text_delta" ? event.delta : "")).join("");
    expect(text === "" || text === "It is gone for good.").toBe(true);
    // Each call makes a new stream, also when the run is over.
    expect((await accepted.stream().result()).text).toBe("It is gone for good.");
  });

  it("a run is given from its beginning, when it is over too, and a reader that leaves does not stop it", async () => {
    await using server = scene({ ...asking, script: [{ calls: [call("a")] }, { text: "Gone." }] });
    const { runId = "", pendingApprovals: [approval] = [] } = (await waiting(server)) as {
      runId?: string;
      pendingApprovals?: { callKey: string }[];
    };
    const { client } = server;
    expect(await (await client.sessions.stream("s", runId)).result()).toMatchObject({ status: "awaiting_tool_execution", runId });
    const leaving = new AbortController();
    const left = await client.sessions.stream("s", runId, { signal: leaving.signal });
    leaving.abort();
    await left.result().catch(() => undefined);
    const decided = await client.sessions.decide("s", approval?.callKey ?? "", { decision: "allow" });
    expect((await decided.stream().result()).status).toBe("completed");
    const result = await (await client.sessions.stream("s", runId)).result();
    expect(result.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool_result", "assistant"]);
    await expect(client.sessions.stream("s", "none")).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
  });

  it("the stream of a decision is over at once where the run waits for another one", async () => {
    await using server = scene({ ...asking, script: [{ calls: [call("a"), call("b")] }, { text: "Both." }] });
    const first = await waiting(server);
    if (first.status !== "awaiting_tool_execution") throw new Error(`The run is ${first.status}.`);
    const [one, other] = first.pendingApprovals;
    const decide = (callKey = "") => server.client.sessions.decide("s", callKey, { decision: "deny" });
    expect(await (await decide(one?.callKey)).stream().result()).toMatchObject({
      status: "awaiting_tool_execution",
      pendingApprovals: [{ callKey: other?.callKey }],
    });
    expect(await (await decide(other?.callKey)).stream().result()).toMatchObject({ status: "completed", text: "Both." });
  });

  it("an answer gives it, and a run that fails fails its result", async () => {
    await using server = scene({ tools: [pick], script: [{ calls: [{ name: "pick" }] }, { error: "MODEL_AUTH" }] });
    const first = await waiting(server);
    if (first.status !== "awaiting_tool_execution") throw new Error(`The run is ${first.status}.`);
    const [{ toolCallId, callKey, toolName } = { toolCallId: "", callKey: "", toolName: "" }] = first.pendingToolCalls;
    const results = [{ role: "tool_result" as const, toolCallId, callKey, toolName, content: "red" }];
    const accepted = await server.client.sessions.sendResults("s", results);
    expect(await accepted.stream().result()).toMatchObject({ status: "error", error: { code: "MODEL_AUTH" } });
  });
});
