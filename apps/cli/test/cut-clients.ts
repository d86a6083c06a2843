/*
 * Owns: the official client of each protocol with one question: it asks, its connection is cut, and it comes back by the means of its protocol. Does not own: where the
 * cut is.
 */
import { SendMessageRequest, StreamResponse } from "@a2a-js/sdk";
import * as a2a from "@a2a-js/sdk/client";
import * as legacy from "@a2a-js/sdk-03/client";
import { HttpAgent } from "@ag-ui/client";
import { Client as McpClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from "ai";
import OpenAI from "openai";

/** A client that has asked one question. */
export interface CutClient {
  /** Reads the answer until its connection is cut. Resolves then in any case. */
  ask(isCut: Promise<void>): Promise<unknown>;
  /** Comes back, and resolves with the text that the client has in the end. */
  resume(): Promise<string>;
}

export interface CutClientOptions {
  readonly url: string;
  readonly question: string;
  /** Cuts the first stream that it gets. */
  readonly fetch: typeof fetch;
}

export type CutClientKind = (options: CutClientOptions) => Promise<CutClient>;

interface Parts {
  readonly parts: readonly { readonly text?: string }[];
}

const textOfParts = ({ parts }: Parts): string => parts.map(({ text = "" }) => text).join("");

/** A task as a client keeps it; events of both versions, in the words of 1.0. */
class KeptTask {
  id = "";
  text = "";

  take(event: object): void {
    const { task, artifactUpdate } = event as {
      readonly task?: { readonly id: string; readonly artifacts?: readonly Parts[] };
      readonly artifactUpdate?: { readonly artifact: Parts; readonly append?: boolean };
    };
    if (task) {
      this.id = task.id;
      this.text = (task.artifacts ?? []).map(textOfParts).join("");
    }
    if (artifactUpdate) this.text = (artifactUpdate.append ? this.text : "") + textOfParts(artifactUpdate.artifact);
  }
}

/** Subscribes to the task; one that has ended is read; one that the client does not know yet is asked for again by the same message. */
async function comeBack(
  kept: KeptTask,
  ways: { readonly send: () => Promise<void>; readonly subscribe: () => Promise<void>; readonly get: () => Promise<void> },
) {
  if (kept.id === "") await ways.send();
  else
    try {
      await ways.subscribe();
    } catch {
      // The task has ended.
      await ways.get();
    }
  return kept.text;
}

const currentTask: CutClientKind = async ({ url, question, fetch: fetchImpl }) => {
  const { createFrom, default: base } = a2a.ClientFactoryOptions;
  const client = await new a2a.ClientFactory(
    createFrom(base, { transports: [new a2a.JsonRpcTransportFactory({ fetchImpl })] }),
  ).createFromUrl(url);
  const kept = new KeptTask();
  const read = async (stream: AsyncIterable<StreamResponse>): Promise<void> => {
    for await (const event of stream) kept.take(StreamResponse.toJSON(event) as object);
  };
  const message = { messageId: question, role: "ROLE_USER", parts: [{ text: question }] };
  const send = (): Promise<void> => read(client.sendMessageStream(SendMessageRequest.fromJSON({ message })));
  const named = () => ({ tenant: "", id: kept.id });
  return {
    ask: () => send().catch(() => undefined),
    resume: () =>
      comeBack(kept, {
        send,
        subscribe: () => read(client.resubscribeTask(named())),
        get: async () => kept.take(StreamResponse.toJSON({ payload: { $case: "task", value: await client.getTask(named()) } }) as object),
      }),
  };
};

const legacyTask: CutClientKind = async ({ url, question, fetch: fetchImpl }) => {
  const { createFrom, default: base } = legacy.ClientFactoryOptions;
  const client = await new legacy.ClientFactory(
    createFrom(base, { transports: [new legacy.JsonRpcTransportFactory({ fetchImpl })] }),
  ).createFromUrl(url);
  const kept = new KeptTask();
  const names: { readonly [kind: string]: string } = { task: "task", "artifact-update": "artifactUpdate" };
  const read = async (stream: AsyncIterable<{ readonly kind: string }>): Promise<void> => {
    for await (const event of stream) kept.take({ [names[event.kind] ?? "other"]: event });
  };
  const message = () => ({
    kind: "message" as const,
    messageId: question,
    role: "user" as const,
    parts: [{ kind: "text" as const, text: question }],
  });
  const send = (): Promise<void> => read(client.sendMessageStream({ message: message() }));
  return {
    ask: () => send().catch(() => undefined),
    resume: () =>
      comeBack(kept, {
        send,
        subscribe: () => read(client.resubscribeTask({ id: kept.id })),
        get: async () => kept.take({ task: await client.getTask({ id: kept.id }) }),
      }),
  };
};

const mcpCall: CutClientKind = async ({ url, question, fetch: fetchOf }) => {
  const connect = async (): Promise<McpClient> => {
    const host = new McpClient({ name: "host", version: "1.0.0" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
    await host.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { fetch: fetchOf }));
    return host;
  };
  const call = { name: "ask_helper", arguments: { input: question }, _meta: { "loopwright/idempotencyKey": question } };
  const first = await connect();
  return {
    // The SDK waits for an answer whose stream has ended until it is closed.
    ask: (isCut) => Promise.race([isCut, first.callTool(call, { onprogress: () => undefined, timeout: 600_000 }).catch(() => undefined)]),
    async resume() {
      await first.close();
      const host = await connect();
      const { structuredContent } = await host.callTool(call, { timeout: 600_000 });
      await host.close();
      return (structuredContent as { readonly text: string }).text;
    },
  };
};

const agUiRun: CutClientKind = async ({ url, question, fetch: fetchOf }) => {
  const initialMessages = [{ id: question, role: "user" as const, content: question }];
  const page = new HttpAgent({ url: `${url}/ag-ui/helper`, fetch: fetchOf, threadId: question, initialMessages });
  const run = () => page.runAgent({ runId: question });
  return {
    ask: () => run().catch(() => undefined),
    async resume() {
      await run();
      const answers = page.messages.filter(({ role }) => role === "assistant");
      return answers.map(({ content }) => content).join(" | ");
    },
  };
};

const uiChat: CutClientKind = async ({ url, question, fetch: fetchOf }) => {
  const transport = new DefaultChatTransport<UIMessage>({ api: `${url}/api/chat`, fetch: fetchOf });
  const message: UIMessage = { id: question, role: "user", parts: [{ type: "text", text: question }] };
  return {
    async ask() {
      const sent = {
        chatId: question,
        messages: [message],
        trigger: "submit-message",
        messageId: undefined,
        abortSignal: undefined,
      } as const;
      try {
        for await (const _ of await transport.sendMessages({ ...sent, messages: [message] }));
      } catch {}
    },
    async resume() {
      const stream = await transport.reconnectToStream({ chatId: question });
      if (!stream) throw new Error("There is nothing to resume.");
      let last: UIMessage | undefined;
      for await (const state of readUIMessageStream({ stream })) last = state;
      return (last?.parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
    },
  };
};

const sdkOf = ({ url, fetch: fetchOf }: CutClientOptions): OpenAI =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", fetch: fetchOf, maxRetries: 0 });

const completion: CutClientKind = async (options) => {
  const client = sdkOf(options);
  const keyed = { headers: { "Idempotency-Key": options.question } };
  const read = async (): Promise<string> => {
    let text = "";
    const messages = [{ role: "user" as const, content: options.question }];
    for await (const { choices } of await client.chat.completions.create({ model: "helper", messages, stream: true }, keyed))
      text += choices[0]?.delta.content ?? "";
    return text;
  };
  return { ask: () => read().catch(() => undefined), resume: read };
};

const response: CutClientKind = async (options) => {
  const client = sdkOf(options);
  const keyed = { headers: { "Idempotency-Key": options.question } };
  const had = { id: "", number: -1, text: "", isWhole: false };
  type Events = Awaited<ReturnType<typeof create>>;
  const create = () => client.responses.create({ model: "helper", input: options.question, stream: true }, keyed);
  const read = async (events: Events): Promise<void> => {
    for await (const event of events) {
      had.number = event.sequence_number;
      if (event.type === "response.created") had.id = event.response.id;
      if (event.type === "response.output_text.delta") had.text += event.delta;
      if (event.type !== "response.completed") continue;
      had.isWhole = true;
      if (event.response.output_text !== undefined && event.response.output_text !== "" && event.response.output_text !== had.text)
        throw new Error("The letters of the stream are not those of the response.");
    }
  };
  return {
    ask: async () => {
      try {
        await read(await create());
      } catch {}
    },
    async resume() {
      if (had.id === "") await read(await create());
      else if (!had.isWhole) await read((await client.responses.retrieve(had.id, { stream: true, starting_after: had.number })) as Events);
      return had.isWhole ? had.text : `${had.text} without an end`;
    },
  };
};

/** By the name of their protocol. */
export const cutClients: Readonly<Record<string, CutClientKind>> = {
  "A2A 1.0": currentTask,
  "A2A 0.3": legacyTask,
  MCP: mcpCall,
  "AG-UI": agUiRun,
  "AI SDK": uiChat,
  "chat completions": completion,
  responses: response,
};
