import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { SendMessageRequest, StreamResponse } from "@a2a-js/sdk";
import * as a2a from "@a2a-js/sdk/client";
import * as legacy from "@a2a-js/sdk-03/client";
import { HttpAgent } from "@ag-ui/client";
import { type RedisProcess, redisMissing, startRedis } from "@loopwright/simulator/node";
import { Client as McpClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from "ai";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ProtocolNode, protocolNode } from "./protocol-node.ts";

const answer = "It is raining. ☔";
const question = "Is it raining?";
const missing = redisMissing();

interface Killable {
  readonly url: string;
  kill(): Promise<void>;
}

async function startNode(redisUrl: string): Promise<Killable> {
  const program = fileURLToPath(new URL("protocol-node-process.ts", import.meta.url));
  const child = spawn(process.execPath, ["--conditions=@loopwright/source", "--no-warnings", program, redisUrl], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => void child.once("exit", () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", resolve);
    void ended.then(() => reject(new Error("The node ended before it listened.")));
  });
  return {
    url,
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** A client in the middle of its stream. */
interface MidStream {
  /** Resolves when it has a part of the answer. */
  readonly isAnswering: Promise<unknown>;
  /** Ends when its connection does. */
  readonly cut: Promise<unknown>;
}

function responseStream(client: OpenAI) {
  const isAnswering = Promise.withResolvers<void>();
  const had = { id: "", number: 0, text: "" };
  const read = async (): Promise<void> => {
    for await (const event of await client.responses.create({ model: "helper", input: question, stream: true, background: true })) {
      had.number = event.sequence_number;
      if (event.type === "response.created") had.id = event.response.id;
      if (event.type === "response.output_text.delta") had.text += event.delta;
      if (had.text === "It is rai") isAnswering.resolve();
    }
  };
  return { had, isAnswering: isAnswering.promise, cut: read().catch(() => undefined) } satisfies MidStream & { had: object };
}

const completion = { model: "helper", messages: [{ role: "user" as const, content: question }], stream: true } as const;
const keyed = { headers: { "Idempotency-Key": "the-question" } };

async function completionText(client: OpenAI, onText: (text: string) => void = () => undefined): Promise<string> {
  let text = "";
  for await (const { choices } of await client.chat.completions.create({ ...completion, messages: [...completion.messages] }, keyed)) {
    text += choices[0]?.delta.content ?? "";
    onText(text);
  }
  return text;
}

function completionStream(client: OpenAI): MidStream {
  const isAnswering = Promise.withResolvers<void>();
  const cut = completionText(client, (text) => text === "It is rai" && isAnswering.resolve()).catch(() => undefined);
  return { isAnswering: isAnswering.promise, cut };
}

type UiStream = Awaited<ReturnType<DefaultChatTransport<UIMessage>["sendMessages"]>>;

async function lastMessage(stream: UiStream | null): Promise<UIMessage> {
  if (!stream) throw new Error("There is nothing to resume.");
  let last: UIMessage | undefined;
  for await (const message of readUIMessageStream({ stream })) last = message;
  if (!last) throw new Error("The stream has no message.");
  return last;
}

const textOf = ({ parts }: UIMessage): string => parts.map((part) => (part.type === "text" ? part.text : "")).join("");

const transportTo = (url: string) => new DefaultChatTransport<UIMessage>({ api: `${url}/api/chat` });

function chatStream(url: string): MidStream {
  const isAnswering = Promise.withResolvers<void>();
  const message: UIMessage = { id: "m1", role: "user", parts: [{ type: "text", text: question }] };
  const sent = { chatId: "chat", messages: [message], trigger: "submit-message", messageId: undefined, abortSignal: undefined } as const;
  const read = async (): Promise<void> => {
    let text = "";
    // The reader of messages leaves a rejection unhandled when the connection is lost, so the chunks are read.
    for await (const chunk of await transportTo(url).sendMessages({ ...sent, messages: [message] })) {
      if (chunk.type === "text-delta") text += chunk.delta;
      if (text === "It is rai") isAnswering.resolve();
    }
  };
  return { isAnswering: isAnswering.promise, cut: read().catch(() => undefined) };
}

/** AG-UI's SDK leaves a rejection unhandled where a connection breaks: the body ends there. */
const untilBroken: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const reader = response.body?.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const read = await reader?.read().catch(() => undefined);
      if (read?.value) controller.enqueue(read.value);
      else controller.close();
    },
  });
  return new Response(body, response);
};

function pageOf(url: string) {
  const page = new HttpAgent({
    url: `${url}/ag-ui/helper`,
    fetch: untilBroken,
    threadId: "thread",
    initialMessages: [{ id: "m1", role: "user", content: question }],
  });
  const isAnswering = Promise.withResolvers<void>();
  const run = () =>
    page.runAgent(
      { runId: "page-run" },
      {
        onTextMessageContentEvent: ({ textMessageBuffer: text, event }) =>
          void (text + event.delta === "It is rai" && isAnswering.resolve()),
      },
    );
  return { page, run, isAnswering: isAnswering.promise };
}

/** A task as a client of A2A keeps it. */
class KeptTask {
  id = "";
  text = "";
  state = "";
  readonly isAnswering = Promise.withResolvers<void>();

  /** Both versions, in the words of 1.0 as JSON. */
  take(event: object): void {
    const { task, artifactUpdate, statusUpdate } = event as {
      readonly task?: { readonly id: string; readonly artifacts?: readonly Parts[]; readonly status: { readonly state: string } };
      readonly artifactUpdate?: { readonly artifact: Parts; readonly append?: boolean };
      readonly statusUpdate?: { readonly status: { readonly state: string } };
    };
    if (task) {
      this.id = task.id;
      this.text = (task.artifacts ?? []).map(textOfParts).join("");
    }
    if (artifactUpdate) this.text = (artifactUpdate.append ? this.text : "") + textOfParts(artifactUpdate.artifact);
    this.state = (statusUpdate ?? task)?.status.state ?? this.state;
    if (this.text === "It is rai") this.isAnswering.resolve();
  }
}

interface Parts {
  readonly parts: readonly { readonly text?: string }[];
}

const textOfParts = ({ parts }: Parts): string => parts.map(({ text = "" }) => text).join("");

/** The client of A2A 1.0: it streams a message, and subscribes to the task after the cut. */
async function taskOf(url: string) {
  const client = await new a2a.ClientFactory().createFromUrl(url);
  const kept = new KeptTask();
  const read = async (stream: AsyncIterable<StreamResponse>): Promise<void> => {
    for await (const event of stream) kept.take(StreamResponse.toJSON(event) as object);
  };
  const message = { messageId: "m1", role: "ROLE_USER", parts: [{ text: question }] };
  const cut = read(client.sendMessageStream(SendMessageRequest.fromJSON({ message }))).catch(() => undefined);
  return { kept, isAnswering: kept.isAnswering.promise, cut, resume: () => read(client.resubscribeTask({ tenant: "", id: kept.id })) };
}

/** The same for 0.3, whose events carry a `kind`. */
async function legacyTaskOf(url: string) {
  const client = await new legacy.ClientFactory().createFromUrl(url);
  const kept = new KeptTask();
  const read = async (stream: AsyncIterable<{ readonly kind: string }>): Promise<void> => {
    for await (const event of stream) {
      const name = { task: "task", "artifact-update": "artifactUpdate", "status-update": "statusUpdate" }[event.kind] ?? "other";
      kept.take({ [name]: event });
    }
  };
  const message = { kind: "message", messageId: "m1-old", role: "user", parts: [{ kind: "text", text: question }] } as const;
  const cut = read(client.sendMessageStream({ message: { ...message, parts: [...message.parts] } })).catch(() => undefined);
  return { kept, isAnswering: kept.isAnswering.promise, cut, resume: () => read(client.resubscribeTask({ id: kept.id })) };
}

const call = { name: "ask_helper", arguments: { input: question }, _meta: { "loopwright/idempotencyKey": "call-1" } };

async function hostOf(url: string): Promise<McpClient> {
  const host = new McpClient({ name: "host", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await host.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
  return host;
}

/** A host of MCP, which repeats its call under the same key after the cut. */
async function callOf(url: string) {
  const host = await hostOf(url);
  const isAnswering = Promise.withResolvers<void>();
  let text = "";
  const onprogress = ({ message = "" }: { readonly message?: string | undefined }): void => {
    text += message;
    if (text === "It is rai") isAnswering.resolve();
  };
  // The client waits for the answer of a server that has died until it is closed.
  const cut = host.callTool(call, { onprogress, timeout: 600_000 }).catch(() => undefined);
  const resume = async (): Promise<unknown> => {
    const next = await hostOf(url);
    const result = await next.callTool(call, { timeout: 600_000 });
    await next.close();
    return result.structuredContent;
  };
  return { isAnswering: isAnswering.promise, cut, close: () => host.close(), resume };
}

describe.skipIf(missing)("a node that is killed in the middle of the streams of other vendors' clients", () => {
  let redis: RedisProcess;
  let first: Killable;
  let second: ProtocolNode;

  beforeAll(async () => {
    redis = await startRedis();
    first = await startNode(redis.url);
  }, 120_000);

  afterAll(async () => {
    await first?.kill();
    await second?.close();
    await redis?.stop();
  });

  it("is followed by another one on its Redis at the same address: each client reconnects by its own means and has the whole answer", async () => {
    const client = new OpenAI({ baseURL: `${first.url}/v1`, apiKey: "none" });
    const response = responseStream(client);
    const chat = chatStream(first.url);
    const agUi = pageOf(first.url);
    const agUiCut = agUi.run().catch(() => undefined);
    const completed = completionStream(client);
    const task = await taskOf(first.url);
    const oldTask = await legacyTaskOf(first.url);
    const call = await callOf(first.url);
    await Promise.all([response, completed, chat, agUi, task, oldTask, call].map(({ isAnswering }) => isAnswering));
    await first.kill();
    await call.close();
    await Promise.all([response.cut, completed.cut, chat.cut, agUiCut, task.cut, oldTask.cut, call.cut]);
    const port = Number(new URL(first.url).port);
    second = await protocolNode(redis.url, { turn: { thinking: "A window.", text: answer, chunkSize: 4 }, port });

    const resumeResponse = async (): Promise<void> => {
      const { id, number } = response.had;
      expect((await client.responses.stream({ response_id: id }).finalResponse()).output_text).toBe(answer);
      let last: unknown;
      for await (const event of await client.responses.retrieve(id, { stream: true, starting_after: number })) last = event;
      expect(last).toMatchObject({ type: "response.completed", response: { id, status: "completed" } });
    };
    const resumeChat = async (): Promise<void> => {
      const stream = await transportTo(first.url).reconnectToStream({ chatId: "chat" });
      expect(textOf(await lastMessage(stream))).toBe(answer);
    };
    const [repeated, called] = await Promise.all([
      completionText(client),
      call.resume(),
      resumeResponse(),
      resumeChat(),
      agUi.run(),
      task.resume(),
      oldTask.resume(),
    ]);
    expect(repeated).toBe(answer);
    expect(called).toMatchObject({ text: answer, status: "completed" });
    expect([task.kept.text, task.kept.state]).toEqual([answer, "TASK_STATE_COMPLETED"]);
    expect([oldTask.kept.text, oldTask.kept.state]).toEqual([answer, "completed"]);
    const answers = agUi.page.messages.filter(({ role }) => role === "assistant");
    expect(answers.map(({ content }) => content)).toEqual([answer]);
    // No client has begun another session.
    const { sessions } = (await (await fetch(`${first.url}/api/sessions`)).json()) as { readonly sessions: readonly unknown[] };
    expect(sessions).toHaveLength(7);
  }, 180_000);
});
