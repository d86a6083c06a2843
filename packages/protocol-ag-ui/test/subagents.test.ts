import { agentTool, createAgent, defineTool } from "@loopwright/core";
import { type ScriptedStep, scripted } from "@loopwright/core/memory";
import { digestId, ownedSessionId } from "@loopwright/server";
import { describe, expect, it } from "vitest";
import { threadWithAgents } from "../src/agent-record.ts";
import { cutAfter, type Event, run, say, threadServer } from "./thread-server.ts";

const soil = defineTool({ name: "soil", description: "The soil.", parameters: { type: "object" }, execute: () => "dry" });
const dig = defineTool({
  ...{ name: "dig", description: "Digs.", parameters: { type: "object" }, approval: "It is loud." },
  execute: () => "dug",
});
const ask = defineTool({ name: "ask", description: "Asks in the page.", parameters: { type: "object" } });

const botanist = (script: readonly ScriptedStep[], tools = [soil, dig, ask]) =>
  agentTool({ agent: createAgent({ name: "botanist", provider: scripted(script, { name: "below", model: "below-1" }), tools }) });

const toBotanist = (task: string) => ({ name: "botanist", args: { task } });

const shapeOf = (events: readonly Event[]): readonly string[] =>
  events
    .filter(({ type }) => /^(SUBAGENT|TEXT_MESSAGE_START|TOOL_CALL_(START|RESULT)|MESSAGES|RUN)/.test(type))
    .map(({ type, subagentRunId }) => (subagentRunId === undefined ? type : `${type} below`));

const usage = { input: 10, output: 2 };
const texts = (messages: readonly object[]): unknown[] =>
  (messages as readonly { role: string; content?: unknown; subagentRunId?: string }[]).map(
    ({ role, content = "", subagentRunId }) => `${subagentRunId === undefined ? "" : "below: "}${role}: ${content}`,
  );

describe("agents below the agent of a page", () => {
  const answers = [
    { text: "I look.", calls: [{ name: "soil" }], usage },
    { text: "It is dry.", usage },
  ];
  const script = [
    { calls: [toBotanist("Look.")], usage },
    { text: "Water it.", usage: { input: 20, output: 4 } },
  ];
  const shown = [
    ...["user: Look.", "assistant: ", "tool: It is dry.", "below: assistant: I look.", "below: tool: dry", "below: assistant: It is dry."],
    "assistant: Water it.",
  ];

  it("stream their messages and calls as their own, and their usage counts", async () => {
    const { page, send } = await threadServer(script, { tools: [botanist(answers)] });
    const agent = page();
    const events = await say(agent, "Look.");
    expect(shapeOf(events)).toEqual([
      ...["RUN_STARTED", "TOOL_CALL_START", "SUBAGENT_STARTED below", "TEXT_MESSAGE_START below", "TOOL_CALL_START below"],
      ...["TOOL_CALL_RESULT below", "TEXT_MESSAGE_START below", "SUBAGENT_FINISHED below", "TOOL_CALL_RESULT"],
      ...["TEXT_MESSAGE_START", "RUN_FINISHED"],
    ]);
    const [, call] = agent.messages as readonly { toolCalls?: readonly { id: string }[] }[];
    expect(events.find(({ type }) => type === "SUBAGENT_STARTED")).toMatchObject({
      name: "botanist",
      parentToolCallId: call?.toolCalls?.[0]?.id,
    });
    expect(texts(agent.messages)).toEqual(shown);
    expect(events.at(-1)?.["usage"]).toEqual([
      { provider: "scripted", model: "scripted-1", inputTokens: 30, outputTokens: 6, cachedInputTokens: 0, reasoningTokens: 0 },
      { provider: "below", model: "below-1", inputTokens: 20, outputTokens: 4, cachedInputTokens: 0, reasoningTokens: 0 },
    ]);
    const { messages } = (await (await send("/ag-ui/helper/first%20thread")).json()) as { messages: object[] };
    expect(texts(messages)).toEqual(shown);
  });

  it("are given again, whole and once, when the page runs the same run again, at whatever byte it was cut", async () => {
    const places = Array.from({ length: 12 }, (_, at) => 150 + at * 280);
    const streamed = answers.map((answer) => ({ ...answer, chunkSize: 3 }));
    const { page } = await threadServer(
      places.flatMap(() => script),
      { tools: [botanist(places.flatMap(() => streamed))] },
    );
    let cuts = 0;
    for (const bytes of places) {
      const threadId = `cut after ${bytes}`;
      const lost = page({ threadId, fetch: async (input, init) => cutAfter(bytes, await fetch(input, init)) });
      const seen = await say(lost, "Look.", { runId: "r1" }).catch(() => []);
      if (seen.at(-1)?.type !== "RUN_FINISHED") cuts += 1;
      const again = page({ threadId });
      again.setMessages(lost.messages);
      await run(again, { runId: "r1" });
      expect(texts(again.messages), `after ${bytes} bytes`).toEqual(shown);
    }
    expect(cuts).toBeGreaterThan(8);
  });

  it.each([
    [true, "dug", "Dug."],
    [false, "TOOL_DENIED: Denied.", "Dug."],
  ])("ask for approval at the page, and continue with the decision: %j", async (approved, result, text) => {
    const below = botanist([
      { text: "May I?", calls: [{ name: "dig" }], usage },
      { text, usage },
    ]);
    const { page } = await threadServer(
      [
        { calls: [toBotanist("Dig.")], usage },
        { text: "Done.", usage },
      ],
      { tools: [below] },
    );
    const agent = page();
    const asked = await say(agent, "Dig.");
    const started = asked.find(({ type }) => type === "SUBAGENT_STARTED");
    const [interrupt] = agent.pendingInterrupts;
    expect(interrupt).toMatchObject({ message: "It is loud.", subagentRunId: started?.["subagentRunId"], toolCallId: interrupt?.id });
    expect(asked.find(({ type }) => type === "SUBAGENT_FINISHED")).toMatchObject({
      outcome: { type: "suspended", interruptIds: [interrupt?.id] },
    });
    const resume = [{ interruptId: interrupt?.id ?? "", status: "resolved" as const, payload: { approved } }];
    const before = agent.messages;
    const continued = await run(agent, { runId: "r2", resume });
    expect(shapeOf(continued).filter((type) => type.startsWith("SUBAGENT"))).toEqual(["SUBAGENT_STARTED below", "SUBAGENT_FINISHED below"]);
    const expected = [
      ...["user: Dig.", "assistant: ", `tool: ${text}`, "below: assistant: May I?", `below: tool: ${result}`],
      ...[`below: assistant: ${text}`, "assistant: Done."],
    ];
    expect(texts(agent.messages).map((one) => String(one).replace(/(Denied\.).*/s, "$1"))).toEqual(expected);
    // The whole usage of both, over the two runs of the page, once.
    const counted = [asked, continued].flatMap((events) => events.at(-1)?.["usage"] as { inputTokens: number }[]);
    expect(counted.reduce((sum, { inputTokens }) => sum + inputTokens, 0)).toBe(40);
    // The same decision again gets what followed it.
    const again = page();
    again.setMessages(before);
    await run(again, { runId: "r3", resume });
    expect(texts(again.messages).map((one) => String(one).replace(/(Denied\.).*/s, "$1"))).toEqual(expected);
  });

  it("have calls that the page answers", async () => {
    const below = botanist([{ calls: [{ name: "ask" }] }, { text: "Noted." }]);
    const { page } = await threadServer([{ calls: [toBotanist("Ask.")] }, { text: "Done." }], { tools: [below] });
    const agent = page();
    const asked = await say(agent, "Ask.");
    const { pendingToolCallIds: [id = ""] = [] } = (asked.at(-1)?.["outcome"] ?? {}) as { pendingToolCallIds?: string[] };
    agent.addMessage({ id: "a1", role: "tool", toolCallId: id, content: "Yes." });
    await run(agent);
    expect(texts(agent.messages).slice(2)).toEqual([
      ...["tool: Noted.", "below: assistant: ", "tool: Yes.", "below: assistant: Noted.", "assistant: Done."],
    ]);
  });

  it("work beside one another and below one another, each with its own messages", async () => {
    const inner = createAgent({ name: "gnome", provider: scripted([{ text: "Deep." }]) });
    const outer = createAgent({
      ...{ name: "botanist", provider: scripted([{ calls: [{ name: "gnome", args: { task: "Dig deep." } }] }, { text: "It is deep." }]) },
      tools: [agentTool({ agent: inner })],
    });
    const smith = createAgent({ name: "smith", provider: scripted([{ text: "A spade." }]) });
    const { page, send } = await threadServer(
      [{ calls: [toBotanist("Look."), { name: "smith", args: { task: "Forge." } }] }, { text: "Both." }],
      { tools: [agentTool({ agent: outer }), agentTool({ agent: smith })] },
    );
    const agent = page();
    const events = await say(agent, "Go.");
    const started = events.filter(({ type }) => type === "SUBAGENT_STARTED");
    const idOf = (name: string): unknown => started.find((one) => one["name"] === name)?.["subagentRunId"];
    expect(started.find(({ name }) => name === "gnome")).toMatchObject({ parentSubagentRunId: idOf("botanist") });
    const textOf = (messages: readonly object[], name: string): unknown[] =>
      (messages as readonly { subagentRunId?: string; content?: unknown; role: string }[])
        .filter((message) => message.subagentRunId === idOf(name) && message.role === "assistant" && message.content)
        .map(({ content }) => content);
    const { messages } = (await (await send("/ag-ui/helper/first%20thread")).json()) as { messages: object[] };
    for (const list of [agent.messages, messages])
      expect([textOf(list, "botanist"), textOf(list, "gnome"), textOf(list, "smith")]).toEqual([["It is deep."], ["Deep."], ["A spade."]]);
  });

  it("report a failure as their own, with its cause, while the run continues", async () => {
    const { page } = await threadServer([{ calls: [toBotanist("Look.")] }, { text: "I do without." }], {
      tools: [botanist([{ error: "MODEL_AUTH" }])],
    });
    const agent = page();
    const events = await say(agent, "Look.");
    expect(events.find(({ type }) => type === "SUBAGENT_ERROR")).toMatchObject({
      code: "MODEL_AUTH",
      message: expect.stringContaining("below"),
    });
    expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "success" } });
    expect(texts(agent.messages).at(-1)).toBe("assistant: I do without.");
  });

  it("are not read where a tool names the session above it as that of an agent", async () => {
    const mirror = defineTool({
      ...{ name: "mirror", description: "Names its own session.", parameters: { type: "object" } },
      execute: () => ({ type: "complete" as const, output: "seen", details: { agent: "helper", session: sessionId } }),
    });
    const sessionId = `thread-${await digestId("anne", "helper", "first thread")}`;
    const { page, send } = await threadServer([{ calls: [{ name: "mirror" }] }, { text: "Done." }], { tools: [mirror] });
    const agent = page();
    await say(agent, "Look.");
    const { messages } = (await (await send("/ag-ui/helper/first%20thread")).json()) as { messages: object[] };
    expect(texts(messages)).toEqual(["user: Look.", "assistant: ", "tool: seen", "assistant: Done."]);
  });

  it("are not read where a result names a session that its call has not begun", async () => {
    const session = await ownedSessionId("thread", "anne", ["helper", "another thread"]);
    const mirror = defineTool({
      ...{ name: "mirror", description: "Names another session.", parameters: { type: "object" } },
      execute: () => ({ type: "complete" as const, output: "seen", details: { agent: "helper", session } }),
    });
    const { page, send } = await threadServer(
      [{ text: "Apart." }, { calls: [{ name: "mirror" }, { name: "mirror" }] }, { text: "Done." }],
      { tools: [mirror] },
    );
    await say(page({ threadId: "another thread" }), "Look.");
    await say(page(), "Look.");
    const { messages } = (await (await send("/ag-ui/helper/first%20thread")).json()) as { messages: object[] };
    expect(texts(messages)).toEqual(["user: Look.", "assistant: ", "tool: seen", "tool: seen", "assistant: Done."]);
  });

  describe("of a thread with many", () => {
    const calls = ["One.", "Two.", "Three."].map(toBotanist);
    const many = async () => {
      const below = botanist([{ text: "Seen." }, { text: "Seen." }, { text: "Seen." }]);
      const server = await threadServer([{ calls }, { text: "Done." }], { tools: [below] });
      await say(server.page(), "Look.");
      const { sessions } = await server.client.sessions.list();
      return { client: server.client, thread: await server.client.sessions.get(sessions[0]?.id ?? "") };
    };

    it("are read up to a limit, and a message stands in place of each one beyond it", async () => {
      const { client, thread } = await many();
      const { signal } = new AbortController();
      const shown = async (limit: object): Promise<unknown[]> =>
        texts(await threadWithAgents({ client, signal, ...limit }, thread)).filter((text) => String(text).startsWith("below"));
      const seen = "below: assistant: Seen.";
      const notShown = "below: assistant: This agent is not shown here: at most 1 agents of a thread are.";
      expect([await shown({}), await shown({ sessionsMax: 1 })]).toEqual([
        [seen, seen, seen],
        [seen, notShown, notShown],
      ]);
    });

    it("are read no further once the request was given up", async () => {
      const { client, thread } = await many();
      const leaving = new AbortController();
      let reads = 0;
      const get: typeof client.sessions.get = (session, options) => {
        reads += 1;
        leaving.abort();
        return client.sessions.get(session, options);
      };
      const reading = { client: { ...client, sessions: { ...client.sessions, get } }, signal: leaving.signal };
      await expect(threadWithAgents(reading, thread)).rejects.toThrow();
      expect(reads).toBe(1);
    });
  });

  it("are stopped with the run", async () => {
    const { page, send } = await threadServer([{ calls: [toBotanist("Look.")] }], { tools: [botanist([{ text: "I lo", hang: true }])] });
    const agent = page();
    const running = say(agent, "Look.");
    await expect.poll(() => texts(agent.messages).at(-1), { timeout: 20_000 }).toBe("below: assistant: I lo");
    await send("/ag-ui/helper/first%20thread/stop", {});
    const events = await running;
    expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "cancelled" } });
    expect(shapeOf(events).filter((type) => type.startsWith("SUBAGENT"))).toEqual(["SUBAGENT_STARTED below", "SUBAGENT_ERROR below"]);
  });
});
