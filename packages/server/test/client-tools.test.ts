import type { ClientOptions } from "@loopwright/client";
import { AgentError, createAgent, defineTool, type ToolResultMessage } from "@loopwright/core";
import type { ModelProvider } from "@loopwright/core/ports";
import type { AgentEvent, Message } from "@loopwright/core/protocol";
import { assertEventStream } from "@loopwright/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { clientScene } from "./client-scene.ts";

const asks = (args: { readonly [name: string]: string } = { of: "two" }) => ({
  text: "You choose.",
  calls: [{ name: "pick", args, id: "call_a" }],
  usage: { input: 10, output: 5 },
});
const ends = { text: "Well then.", usage: { input: 20, output: 2 } };
const parameters = { type: "object" } as const;
const description = "Lets the user pick.";
const pickThat = (execute: NonNullable<ReturnType<typeof defineTool>["execute"]>) =>
  defineTool({ name: "pick", description, parameters, execute });

const resultIn = (messages: readonly Message[]): ToolResultMessage | undefined =>
  messages.find((message): message is ToolResultMessage => message.role === "tool_result");

describe("tools of the client", () => {
  it("A26: run when the model calls them, and their results continue the run in one stream", async () => {
    await using scene = clientScene({ script: [asks(), ends] });
    const seen: unknown[] = [];
    const tool = defineTool({
      name: "pick",
      description,
      label: "Pick",
      parameters: z.object({ of: z.string(), or: z.string().default("none") }),
      execute(args, { callId, session, signal }) {
        seen.push(args, callId, session.messages().length, signal.aborted);
        return { type: "complete", output: "red", details: { shade: 3 } };
      },
    });
    const stream = scene.client.execute("choose", { agent: "tester", tools: [tool] });
    const events: AgentEvent[] = [];
    for await (const event of stream) events.push(event);
    assertEventStream(events);
    const result = await stream.result();
    expect([result.status, result.text, result.usage]).toEqual(["completed", "Well then.", { input: 30, output: 7 }]);
    expect(resultIn(result.messages)).toMatchObject({ toolCallId: "call_a", outcome: "ok", details: { shade: 3 } });
    expect(seen).toEqual([{ of: "two", or: "none" }, "call_a", 2, false]);
  });

  it.each([
    ["that says nothing", {}, {}, 300_000],
    ["with a time of its own", { timeoutMs: 1_000 }, {}, 1_000],
    ["that asks a person", { timeoutMs: 0 }, {}, undefined],
    ["that the caller runs", {}, { runTools: false }, undefined],
  ])("have five minutes to answer, so that a tab that was closed holds no run: one %s", async (_, more, options, ms) => {
    await using scene = clientScene({ script: [asks(), ends] });
    let deadline: number | undefined;
    const tool = defineTool({ name: "pick", description, parameters: { type: "object" }, ...more, execute: () => "red" });
    const stream = scene.client.execute("choose", { agent: "tester", tools: [tool], ...options });
    let askedAt = 0;
    for await (const event of stream)
      if (event.type === "awaiting_tool_execution") [deadline, askedAt] = [event.toolCalls[0]?.deadline, event.at];
    expect(deadline === undefined ? undefined : Math.round((deadline - askedAt) / 1_000) * 1_000).toBe(ms);
  });

  it.each([
    ["ten minutes ahead", 600_000],
    ["sixty days behind", -60 * 86_400_000],
  ])("have their whole time on a machine whose clock is %s", async (_, offMs) => {
    const waits: number[] = [];
    const clock: NonNullable<ClientOptions["clock"]> = {
      now: () => Date.now() + offMs,
      after(ms, run) {
        waits.push(Math.round(ms / 1_000) * 1_000);
        const timer = ms > 15_000 ? undefined : setImmediate(run);
        return () => clearImmediate(timer);
      },
    };
    await using scene = clientScene({ script: [asks(), ends], client: { clock } });
    const tool = pickThat(async (_args, { signal }) => {
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
      return signal.aborted ? "stopped" : "red";
    });
    const { messages } = await scene.client.execute("choose", { tools: [tool] }).result();
    expect(resultIn(messages)).toMatchObject({ outcome: "ok", content: [{ type: "text", text: "red" }] });
    expect(Math.max(...waits)).toBe(300_000);
  });

  it("are followed by an answer that comes at once, and a reader that adds up `text_delta` has all of it", async () => {
    for (const late of [0, 1, 5]) {
      let calls = 0;
      const provider: ModelProvider = {
        name: "instant",
        defaultModel: "instant-1",
        capabilities: () => ({ streaming: true, tools: true, vision: false, promptCaching: false }),
        async *stream() {
          if (++calls === 1)
            yield [
              { type: "call-start", index: 0, id: "call_a", name: "pick" },
              { type: "end", stopReason: "tool_calls" },
            ];
          for (let turn = 0; turn < late; turn++) await Promise.resolve();
          const words = [{ type: "text", index: 0, delta: "Well " } as const, { type: "text", index: 0, delta: "then." } as const];
          yield [...words, { type: "end", stopReason: "stop" }];
        },
      };
      await using scene = clientScene({ script: [], server: { agents: [createAgent({ name: "tester", provider })] } });
      for (let times = 0; times < 5; times++) {
        calls = 0;
        const stream = scene.client.execute("choose", { tools: [pickThat(() => "red")] });
        let text = "";
        for await (const event of stream) if (event.type === "text_delta") text += event.delta;
        expect([text, (await stream.result()).text]).toEqual(["Well then.", "Well then."]);
      }
    }
  });

  it("cross the wire as plain data", async () => {
    await using scene = clientScene({ script: [ends] });
    await scene.client.execute("hi", { tools: [pickThat(() => "red")] }).result();
    expect(scene.bodies[0]).toMatchObject({ context: { tools: [{ name: "pick", description, parameters }] } });
    expect(JSON.stringify(scene.bodies[0])).not.toContain("execute");
    expect(scene.model.requests[0]?.tools?.map(({ name }) => name)).toEqual(["pick"]);
  });

  it.each([
    ["text", () => "red", "red"],
    ["JSON", () => ({ red: 1 }), { red: 1 }],
    ["a stream of text", () => streamOf(["re", "d"]), "red"],
    ["nothing", () => undefined, "no output"],
    [
      "an error",
      () => {
        throw new Error("no colours");
      },
      "TOOL_FAILED: The tool `pick` failed: no colours",
    ],
    [
      "an error with a code",
      () => Promise.reject(new AgentError("TOOL_DENIED", { message: "Not now.", fix: "" })),
      "TOOL_DENIED: Not now.",
    ],
  ])("may answer with %s", async (_, execute, shown) => {
    await using scene = clientScene({ script: [asks(), ends] });
    const { status, messages } = await scene.client.execute("choose", { tools: [pickThat(execute)] }).result();
    const result = resultIn(messages);
    expect([status, result?.isError === true]).toEqual(["completed", String(shown).includes("TOOL_")]);
    expect(JSON.stringify(result?.content)).toContain(typeof shown === "string" ? shown : JSON.stringify(shown));
  });

  it("are not asked with arguments that do not fit their schema: the model reads why", async () => {
    await using scene = clientScene({ script: [asks({ of: "two" }), ends] });
    let calls = 0;
    const tool = defineTool({ name: "pick", description, parameters: z.object({ from: z.string() }), execute: () => String(++calls) });
    const { messages } = await scene.client.execute("choose", { tools: [tool] }).result();
    expect(JSON.stringify(resultIn(messages)?.content)).toMatch(/TOOL_ARGUMENTS: .*`from`/);
    expect(calls).toBe(0);
  });

  it("are left to a caller that wants to run them", async () => {
    await using scene = clientScene({ script: [asks(), ends] });
    const { client } = scene;
    const stream = client.execute("choose", { tools: [pickThat(() => "red")], runTools: false });
    const { status, pendingToolCalls } = await stream.result();
    expect([status, pendingToolCalls?.map(({ toolCallId }) => toolCallId)]).toEqual(["awaiting_tool_execution", ["call_a"]]);
    const answer = { role: "tool_result", toolCallId: "call_a", content: "blue" } as const;
    expect((await client.execute([answer], { sessionId: stream.sessionId }).result()).text).toBe("Well then.");
  });

  it("of a session that exists are those that it began with: others are refused, and nothing is recorded", async () => {
    await using scene = clientScene({ script: [ends, ends, asks(), ends] });
    const { client } = scene;
    const pick = pickThat(() => "red");
    const other = defineTool({ name: "draw", description: "Draws.", parameters: z.object({}), execute: () => "drawn" });
    const bare = client.execute("hi");
    await bare.result();
    const before = await client.sessions.get(bare.sessionId);
    await expect(client.execute("choose", { sessionId: bare.sessionId, tools: [pick] }).result()).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining("`pick`"),
      fix: expect.stringContaining("new session"),
    });
    expect(await client.sessions.get(bare.sessionId)).toEqual(before);
    const tooled = client.execute("hi", { tools: [pick] });
    await tooled.result();
    await expect(client.execute("choose", { sessionId: tooled.sessionId, tools: [pick, other] }).result()).rejects.toMatchObject({
      message: expect.stringContaining("`draw`"),
    });
    const { status, messages } = await client.execute("choose", { sessionId: tooled.sessionId, tools: [pick] }).result();
    expect([status, JSON.stringify(resultIn(messages)?.content)]).toEqual(["completed", expect.stringContaining("red")]);
  });

  it("need no named agent, and neither does a session without any", async () => {
    await using scene = clientScene({ script: [ends] });
    expect((await scene.client.execute("hi").result()).status).toBe("completed");
    await expect(scene.client.execute("hi", { sessionId: "never-begun" }).result()).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  it("are signalled when the run is aborted, which does not wait for them", async () => {
    await using scene = clientScene({ script: [asks(), ends] });
    const begun = Promise.withResolvers<AbortSignal>();
    const tool = pickThat((_, { signal }) => {
      begun.resolve(signal);
      return new Promise(() => {});
    });
    const stream = scene.client.execute("choose", { tools: [tool] });
    const signal = await begun.promise;
    await stream.abort("enough");
    const { status, error, messages } = await stream.result();
    expect([status, error?.code, signal.aborted]).toEqual(["aborted", "RUN_ABORTED", true]);
    expect(resultIn(messages)?.outcome).toBe("aborted");
  });

  it("do not stop a run that another client has continued", async () => {
    await using scene = clientScene({ script: [asks(), ends] });
    const { client } = scene;
    const tool = pickThat(async (_, { callId, session }) => {
      await client.sessions.sendResults(session.id, [{ role: "tool_result", toolCallId: callId, content: "somebody's" }]);
      return "mine";
    });
    const { status, text, messages } = await client.execute("choose", { tools: [tool] }).result();
    expect([status, text]).toEqual(["completed", "Well then."]);
    expect(JSON.stringify(resultIn(messages)?.content)).toContain("somebody's");
  });

  it("run side by side, unless one is to run alone", async () => {
    const script = [{ calls: [{ name: "pick" }, { name: "pick" }] }, ends];
    for (const sequential of [false, true]) {
      await using scene = clientScene({ script });
      let open = 0;
      let most = 0;
      const tool = {
        ...pickThat(async () => {
          most = Math.max(most, ++open);
          await new Promise((resolve) => setImmediate(resolve));
          open -= 1;
          return "red";
        }),
        sequential,
      };
      await scene.client.execute("choose", { tools: [tool] }).result();
      expect(most).toBe(sequential ? 1 : 2);
    }
  });
});

async function* streamOf(deltas: readonly string[]): AsyncGenerator<{ readonly type: "delta"; readonly delta: string }, undefined> {
  for (const delta of deltas) yield { type: "delta", delta };
  return undefined;
}
