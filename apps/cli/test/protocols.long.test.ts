import { SendMessageRequest } from "@a2a-js/sdk";
import { type Client, ClientFactory, ClientFactoryOptions, DefaultAgentCardResolver, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
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

  it("C73: answers a client of A2A, which finishes its task after a kill -9 of the server in the middle of the stream", async () => {
    const [cwd, flags] = [await emptyDirectory(), ["--protocols", "a2a"]];
    const server = await startServer({ cwd, flags, env: { LOOPWRIGHT_OFFLINE_PACE: "40" } });
    const client = await new ClientFactory().createFromUrl(server.url);
    const message = { messageId: "m1", role: "ROLE_USER", parts: [{ text: "long answer" }] };
    let [id, text] = ["", ""];
    const reading = (async () => {
      for await (const { payload } of client.sendMessageStream(SendMessageRequest.fromJSON({ message }))) {
        if (payload?.$case === "task") id = payload.value.id;
        if (payload?.$case === "artifactUpdate") text += payload.value.artifact?.parts.map(({ content }) => content?.value).join("") ?? "";
        if (text.includes("A long answer")) server.child.kill("SIGKILL");
      }
    })();
    await expect(reading).rejects.toThrow();
    await server.ended;
    expect(text).not.toContain("The end");
    await startServer({ cwd, flags, port: server.port, env: { LOOPWRIGHT_OFFLINE_PACE: "40" } });
    const again = (async () => {
      for await (const { payload } of client.resubscribeTask({ tenant: "", id })) {
        if (payload?.$case !== "artifactUpdate") continue;
        const added = payload.value.artifact?.parts.map(({ content }) => content?.value).join("") ?? "";
        text = payload.value.append ? text + added : added;
      }
    })();
    // A task that has ended before the client is back cannot be subscribed to: it is asked for instead.
    const isLate = await again.then(
      () => false,
      (error: unknown) => String(error).includes("has ended"),
    );
    if (!isLate) await again;
    const { status, artifacts } = await client.getTask({ tenant: "", id });
    if (isLate) text = String(artifacts[0]?.parts[0]?.content?.value);
    expect(status?.state).toBe(3);
    expect(artifacts[0]?.parts[0]?.content?.value).toBe(text);
    for (const words of ["A long answer", "What a session is", "The end"]) expect(text.split(words)).toHaveLength(2);
  });

  it("C50: lets an adapter of a channel reach agents by A2A with the internal token where a service checks all others", async () => {
    const env = { LOOPWRIGHT_INTERNAL_TOKEN: "internal-0123456789abcdef" };
    // Nothing listens there.
    const flags = ["--protocols", "a2a", "--auth-url", "http://127.0.0.1:9/check", "--auth-scope", "garden"];
    const server = await startServer({ cwd: await emptyDirectory(), flags, env });
    const clientWith = (token: string): Promise<Client> => {
      const fetchImpl: typeof fetch = (input, init) =>
        fetch(input, { ...init, headers: { ...(init?.headers as object), authorization: `Bearer ${token}`, "x-scope": "garden" } });
      const parts = { transports: [new JsonRpcTransportFactory({ fetchImpl })], cardResolver: new DefaultAgentCardResolver({ fetchImpl }) };
      return new ClientFactory(ClientFactoryOptions.createFrom(ClientFactoryOptions.default, parts)).createFromUrl(server.url);
    };
    const adapter = await clientWith(env.LOOPWRIGHT_INTERNAL_TOKEN);
    const message = { messageId: "slack-1", contextId: "channel 7", role: "ROLE_USER", parts: [{ text: "what is 6 * 7?" }] };
    const answer = await adapter.sendMessage(SendMessageRequest.fromJSON({ message }));
    expect(JSON.stringify(answer)).toContain("42");
    await expect(clientWith("external-0123456789abcdef")).rejects.toThrow("503");
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
