import { HttpAgent } from "@ag-ui/client";
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from "ai";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { emptyDirectory, run } from "./run-binary.ts";
import { startServer } from "./run-server.ts";

describe("loopwright run --protocols", () => {
  it("answers the SDK of OpenAI, which knows nothing of it, and the session is one like any other", async () => {
    const server = await startServer({ cwd: await emptyDirectory(), flags: ["--protocols", "openai"] });
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none" });
    const listed = await client.models.list();
    expect(listed.data.map(({ id }) => id)).toContain("assistant");
    const messages = [{ role: "user" as const, content: "what is 6 * 7?" }];
    const whole = await client.chat.completions.create({ model: "assistant", messages });
    expect(whole.choices[0]?.message.content).toContain("42");
    const pieces = await client.chat.completions.create({ model: "assistant", messages, stream: true });
    let text = "";
    for await (const { choices } of pieces) text += choices[0]?.delta.content ?? "";
    expect(text).toContain("42");
    const { sessions } = await server.client.sessions.list();
    expect(sessions.map(({ id }) => `chatcmpl-${id}`)).toContain(whole.id);
  });

  it("answers a chat of the AI SDK beside it, and the page has its messages again", async () => {
    const server = await startServer({ cwd: await emptyDirectory(), flags: ["--protocols", "openai,ai-sdk"] });
    const transport = new DefaultChatTransport({ api: `${server.url}/api/chat` });
    const message = { id: "m1", role: "user" as const, parts: [{ type: "text" as const, text: "what is 6 * 7?" }] };
    const sent = {
      chatId: "a chat",
      messages: [message],
      trigger: "submit-message" as const,
      messageId: undefined,
      abortSignal: undefined,
    };
    let answer: UIMessage | undefined;
    for await (const state of readUIMessageStream({ stream: await transport.sendMessages(sent) })) answer = state;
    expect(JSON.stringify(answer?.parts)).toContain("42");
    const { messages } = (await (await fetch(`${server.url}/api/chat/a%20chat`)).json()) as { readonly messages: readonly UIMessage[] };
    expect(messages.map(({ id }) => id)).toContain(answer?.id);
    expect((await fetch(`${server.url}/v1/models`)).status).toBe(200);
  });

  it("answers an agent of AG-UI's SDK", async () => {
    const server = await startServer({ cwd: await emptyDirectory(), flags: ["--protocols", "ag-ui"] });
    const agent = new HttpAgent({ url: `${server.url}/ag-ui/assistant`, threadId: "a thread" });
    agent.addMessage({ id: "m1", role: "user", content: "what is 6 * 7?" });
    await agent.runAgent();
    expect(agent.messages.at(-1)?.content).toContain("42");
  });

  it("answers none without being asked to", async () => {
    const server = await startServer({ cwd: await emptyDirectory() });
    expect((await fetch(`${server.url}/v1/models`)).status).toBe(404);
  });

  it("refuses a protocol that there is not, before it listens", async () => {
    const { code, stderr } = await run(["run", "--offline", "--port", "0", "--protocols", "openai,gopher"], {
      cwd: await emptyDirectory(),
    });
    expect([code, stderr]).toEqual([3, expect.stringContaining("There is no protocol `gopher`.")]);
  });
});
