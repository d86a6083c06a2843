import { type ChatMemory, openChatMemory } from "@loopwright/chat-kit";
import { createClient, type LoopwrightClient } from "@loopwright/client";
import { createAgent, defineTool } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import { textOf } from "@loopwright/core/protocol";
import { createRuntime } from "@loopwright/host";
import { accessPolicy, createServer, type Principal } from "@loopwright/server";
import { openTelegram, type TelegramChannel, type TelegramOptions } from "../src/index.ts";
import { type FakePerson, type FakeTelegram, fakeTelegram } from "../src/testing/index.ts";

export const token = "4200:AAfakefakefakefakefakefakefakefakefa";

const users: Readonly<Record<string, Principal>> = {
  anne: { user: "anne", scope: "garden" },
  ben: { user: "ben", scope: "garden" },
};

const bomb = defineTool({
  ...{ name: "delete_all", description: "Deletes everything.", parameters: { type: "object" } },
  approval: "It cannot be undone.",
  execute: () => "gone",
});

/** A model that repeats what it reads, and does what some words ask for. */
const provider = scripted(({ messages }) => {
  const last = messages.at(-1);
  const text = last ? textOf(last) : "";
  if (last?.role === "tool_result") return { text: `The tool answered ${text}.` };
  if (text.includes("delete")) return { calls: [{ name: "delete_all", args: { folder: "/tmp" } }] };
  const [, count] = /long (\d+)/.exec(text) ?? [];
  if (count !== undefined)
    return { text: Array.from({ length: Number(count) }, (_, line) => `Line **${line}** of the answer.`).join("\n\n") };
  return { text: `You wrote *${text}*.` };
});

/** A server with agents, a Bot API, and a bot between them. */
export interface Garden {
  readonly telegram: FakeTelegram;
  readonly memory: ChatMemory;
  readonly problems: readonly string[];
  clientOf(user: string): LoopwrightClient;
  fetch(request: Request): Promise<Response>;
  /** The bot leaves, and comes back with its memory. */
  restart(more?: Partial<TelegramOptions>): Promise<TelegramChannel>;
  close(): Promise<void>;
}

export const anne: FakePerson = { id: 11, name: "Anne" };
export const ben: FakePerson = { id: 12, name: "Ben: the gardener" };

/** Anne is on the list of the configuration. */
export async function openGarden(more: Partial<TelegramOptions> = {}): Promise<Garden> {
  const telegram = await fakeTelegram(token);
  const store = memoryStore();
  const server = createServer({
    runtime: createRuntime({ agents: [createAgent({ name: "helper", provider, tools: [bomb] })], store }),
    ...accessPolicy({ store }),
    authenticate: (request) => users[request.headers.get("authorization")?.replace("Bearer key-of-", "") ?? ""],
  });
  const fetch = (request: Request): Promise<Response> => server.fetch(request, { remoteAddress: "127.0.0.1" });
  const clientOf = (user: string): LoopwrightClient =>
    createClient({
      url: "http://localhost",
      token: `key-of-${user}`,
      fetch,
    });
  const memory = openChatMemory(":memory:");
  const problems: string[] = [];
  const options: TelegramOptions = {
    ...{ token, apiRoot: telegram.url, memory },
    clientFor: ({ user }) => clientOf(user),
    allow: { [anne.id]: { user: "anne", scope: "garden" } },
    report: (message, cause) => void problems.push(`${message} ${String(cause)}`),
    ...more,
  };
  let channel = await openTelegram(options);
  return {
    ...{ telegram, memory, problems, clientOf, fetch },
    async restart(changes = {}) {
      await channel.close();
      channel = await openTelegram({ ...options, ...changes });
      return channel;
    },
    async close() {
      await channel.close();
      await telegram.close();
      await server.close();
      memory.close();
    },
  };
}
