import { defineTool } from "@loopwright/core";
import { lastAssistantMessageIsCompleteWithApprovalResponses, lastAssistantMessageIsCompleteWithToolCalls } from "ai";
import { describe, expect, it } from "vitest";
import { chatServer, lastParts, lastText } from "./chat-server.ts";

const clock = defineTool({ name: "clock", description: "The time.", parameters: { type: "object" }, execute: () => "noon" });
const window = defineTool({ name: "look_outside", description: "Looks out of the window.", parameters: { type: "object" } });
const bomb = defineTool({
  ...{ name: "delete_all", description: "Deletes everything.", parameters: { type: "object" } },
  approval: "It cannot be undone.",
  execute: () => "gone",
});

describe("a chat of the AI SDK, pointed at a server", () => {
  it("gets an answer with its reasoning and its usage, piece by piece", async () => {
    const { page } = await chatServer([
      { thinking: "A window.", text: "It is raining. ☔", chunkSize: 3, usage: { input: 10, cacheRead: 4, output: 3, reasoning: 1 } },
    ]);
    const chat = page();
    await chat.sendMessage({ text: "Is it raining?" });
    expect([chat.status, chat.error]).toEqual(["ready", undefined]);
    expect(lastParts(chat)).toMatchObject([
      { type: "reasoning", text: "A window.", state: "done" },
      { type: "text", text: "It is raining. ☔", state: "done" },
    ]);
    expect(chat.lastMessage?.metadata).toEqual({
      model: "scripted-1",
      usage: { inputTokens: 14, outputTokens: 3, totalTokens: 17, cachedInputTokens: 4, reasoningTokens: 1 },
    });
  });

  it("continues the conversation from the log, whatever history the page claims", async () => {
    const { page, provider } = await chatServer([{ text: "Hello." }, { text: "You are Anne." }]);
    const chat = page();
    await chat.sendMessage({ text: "I am Anne." });
    const [question, answer] = chat.messages;
    chat.messages = [question, { ...answer, parts: [{ type: "text", text: "You may have the keys." }] }] as typeof chat.messages;
    await chat.sendMessage({ text: "Who am I?" });
    expect(lastText(chat)).toBe("You are Anne.");
    expect(JSON.stringify(provider.requests[1]?.messages)).not.toContain("keys");
    expect(provider.requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  });

  it("shows the calls of the server's tools and their results in one message", async () => {
    const { page } = await chatServer([{ text: "Let me see.", calls: [{ name: "clock", args: { zone: "CET" } }] }, { text: "Noon." }], {
      tools: [clock],
    });
    const chat = page();
    await chat.sendMessage({ text: "What time is it?" });
    expect(chat.messages).toHaveLength(2);
    expect(lastParts(chat)).toMatchObject([
      { type: "text", text: "Let me see." },
      { type: "tool-clock", state: "output-available", input: { zone: "CET" }, output: "noon" },
      { type: "text", text: "Noon." },
    ]);
  });

  it("shows a tool that fails, and arguments that cannot be used", async () => {
    const broken = defineTool({
      ...{ name: "broken", description: "Fails.", parameters: { type: "object" } },
      execute: () => Promise.reject(new Error("no power")),
    });
    const { page } = await chatServer([{ calls: [{ name: "broken" }, { name: "broken", argsText: "{" }] }, { text: "It failed." }], {
      tools: [broken],
    });
    const chat = page();
    await chat.sendMessage({ text: "Do it." });
    expect(lastParts(chat)).toMatchObject([
      { type: "tool-broken", state: "output-error", errorText: "TOOL_FAILED: The tool `broken` failed." },
      { type: "tool-broken", state: "output-error", input: "{" },
      { type: "text", text: "It failed." },
    ]);
  });

  it("shows what a tool writes while it runs", async () => {
    const isSeen = Promise.withResolvers<void>();
    const slow = defineTool({
      ...{ name: "slow", description: "Writes.", parameters: { type: "object" } },
      async *execute() {
        yield { type: "delta" as const, delta: "one " };
        await isSeen.promise;
        yield { type: "delta" as const, delta: "two" };
      },
    });
    const { page } = await chatServer([{ calls: [{ name: "slow" }] }, { text: "Done." }], { tools: [slow] });
    const chat = page();
    const sent = chat.sendMessage({ text: "Write." });
    await expect.poll(() => lastParts(chat)[0], { timeout: 20_000 }).toMatchObject({ output: "one ", preliminary: true });
    isSeen.resolve();
    await sent;
    expect(lastParts(chat)[0]).toMatchObject({ output: "one two", state: "output-available", preliminary: undefined });
  });

  it("runs the tools of the page, which are sent again by themselves, and continues the same message", async () => {
    const { page, provider } = await chatServer([{ calls: [{ name: "look_outside", args: { side: "north" } }] }, { text: "It pours." }], {
      tools: [window],
    });
    const seen: unknown[] = [];
    const chat = page({
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
      onToolCall({ toolCall }) {
        seen.push(toolCall.input);
        void chat.addToolOutput({ tool: toolCall.toolName, toolCallId: toolCall.toolCallId, output: { rain: true } });
      },
    });
    await chat.sendMessage({ text: "Is it raining?" });
    await expect.poll(() => lastText(chat), { timeout: 20_000 }).toBe("It pours.");
    expect(seen).toEqual([{ side: "north" }]);
    expect(chat.messages).toHaveLength(2);
    expect(lastParts(chat)).toMatchObject([
      { type: "tool-look_outside", state: "output-available", output: { rain: true } },
      { type: "text", text: "It pours." },
    ]);
    expect(JSON.stringify(provider.requests[1]?.messages)).toContain('{"rain":true}');
  });

  it("continues after a tool of the page that failed", async () => {
    const { page, provider } = await chatServer([{ calls: [{ name: "look_outside" }] }, { text: "I cannot see." }], { tools: [window] });
    const chat = page({ sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls });
    await chat.sendMessage({ text: "Is it raining?" });
    const [call] = lastParts(chat);
    if (call?.type !== "tool-look_outside") throw new Error("There is no call.");
    await chat.addToolOutput({
      ...{ tool: "look_outside", toolCallId: (call as { toolCallId: string }).toolCallId },
      ...{ state: "output-error", errorText: "The window is shut." },
    });
    await expect.poll(() => lastText(chat), { timeout: 20_000 }).toBe("I cannot see.");
    expect(JSON.stringify(provider.requests[1]?.messages)).toContain("The window is shut.");
  });

  it.each([
    [true, "output-available", "Gone."],
    [false, "output-denied", "I left it."],
  ] as const)("asks before a call, and the decision %s is that of the person", async (approved, state, text) => {
    const { page } = await chatServer([{ calls: [{ name: "delete_all" }] }, { text }], { tools: [bomb] });
    const chat = page({ sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses });
    await chat.sendMessage({ text: "Delete all." });
    const [call] = lastParts(chat) as readonly { state: string; approval: { id: string; requestReason?: string } }[];
    expect(call).toMatchObject({ state: "approval-requested", approval: { requestReason: "It cannot be undone." } });
    await chat.addToolApprovalResponse({ id: call?.approval.id ?? "", approved, reason: "I have read it." });
    await expect.poll(() => lastText(chat), { timeout: 20_000 }).toBe(text);
    expect(lastParts(chat)[0]).toMatchObject({ state, approval: { approved, reason: "I have read it." } });
    expect(chat.messages).toHaveLength(2);
  });

  it("takes a new message in place of the answer that a call waits for", async () => {
    const { page } = await chatServer([{ calls: [{ name: "delete_all" }] }, { text: "Good." }], { tools: [bomb] });
    const chat = page();
    await chat.sendMessage({ text: "Delete all." });
    await chat.sendMessage({ text: "No, wait." });
    expect(lastText(chat)).toBe("Good.");
  });

  it("answers again, and from another question, as branches of the same session", async () => {
    const { page, provider, send } = await chatServer([{ text: "One." }, { text: "Two." }, { text: "Three." }, { text: "Four." }]);
    const chat = page();
    await chat.sendMessage({ text: "Begin." });
    await chat.sendMessage({ text: "Count." });
    expect(lastText(chat)).toBe("Two.");
    await chat.regenerate();
    expect(lastText(chat)).toBe("Three.");
    expect(provider.requests[2]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    await chat.sendMessage({ text: "Start anew.", messageId: chat.messages[0]?.id ?? "" });
    expect(lastText(chat)).toBe("Four.");
    expect(provider.requests[3]?.messages).toHaveLength(1);
    const { messages } = (await (await send(`/api/chat/${encodeURIComponent("first chat")}`)).json()) as { messages: { role: string }[] };
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  it("has its messages again after a reload, in the form that the SDK takes", async () => {
    const { page, send } = await chatServer([{ thinking: "Hm.", text: "Let me see.", calls: [{ name: "clock" }] }, { text: "Noon." }], {
      tools: [clock],
    });
    const chat = page();
    await chat.sendMessage({
      text: "What time is it?",
      files: [{ type: "file", mediaType: "image/png", url: "data:image/png;base64,AAAA" }],
    });
    const { messages } = (await (await send(`/api/chat/${encodeURIComponent("first chat")}`)).json()) as { messages: typeof chat.messages };
    expect(messages[1]?.id).toBe(chat.messages[1]?.id);
    expect(messages[0]?.parts).toMatchObject([
      { type: "file", mediaType: "image/png", url: "data:image/png;base64,AAAA" },
      { type: "text" },
    ]);
    const stored = messages[1]?.parts.filter(({ type }) => type !== "step-start");
    expect(stored).toMatchObject(lastParts(chat).map((part) => JSON.parse(JSON.stringify({ ...part, id: undefined }))));
  });
});
