import { type ChatMemory, createLinkCode, openChatMemory } from "@loopwright/chat-kit";
import { createClient, type LoopwrightClient } from "@loopwright/client";
import { createAgent, defineTool } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import type { ModelProvider } from "@loopwright/core/ports";
import { textOf } from "@loopwright/core/protocol";
import { createRuntime } from "@loopwright/host";
import { accessPolicy, createServer, type Principal } from "@loopwright/server";
import { expect, vi } from "vitest";
import { openSlack, type SlackChannel, type SlackOptions } from "../src/index.ts";
import { type FakeSlack, fakeSlack, type SentInSlack, type SlackPerson } from "../src/testing/index.ts";

export const tokens = { botToken: "xoxb-a-token-of-the-bot", appToken: "xapp-a-token-of-the-app" };

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
const script = scripted(
  ({ messages }) => {
    const last = messages.at(-1);
    const text = last ? textOf(last) : "";
    if (last?.role === "tool_result") return { text: `The tool answered ${text}.` };
    if (text.includes("delete")) return { calls: [{ name: "delete_all", args: { folder: "/tmp" } }] };
    const [, count] = /long (\d+)/.exec(text) ?? [];
    if (count !== undefined)
      return { text: Array.from({ length: Number(count) }, (_, line) => `Line **${line}** of the answer.`).join("\n\n") };
    return { text: `You wrote *${text}*.` };
  },
  { chunkSize: 10 },
);

/** A server with agents, a Slack, and an app between them. */
export interface Garden {
  readonly slack: FakeSlack;
  readonly memory: ChatMemory;
  readonly problems: readonly string[];
  clientOf(user: string): LoopwrightClient;
  fetch(request: Request): Promise<Response>;
  /** Answers stop after their first words, until the returned function is called. */
  hold(): () => void;
  /** The app leaves, and comes back with its memory. */
  restart(more?: Partial<SlackOptions>): Promise<SlackChannel>;
  /** What the bot has written in a place, as people see it. */
  sentIn(channel: string, thread?: string): readonly SentInSlack[];
  textsIn(channel: string, thread?: string): readonly string[];
  newest(channel: string, thread?: string): string;
  /** A person that is linked by a code and has not written before. */
  newcomer(id: string, user: "anne" | "ben", name?: string): Promise<SlackPerson>;
  close(): Promise<void>;
}

export const anne: SlackPerson = { id: "U11", name: "Anne" };
export const ben: SlackPerson = { id: "U12", name: "Ben: the gardener" };

export const until = (condition: () => void | Promise<void>): Promise<void> =>
  vi.waitFor(condition, { timeout: 20_000, interval: 20 }) as Promise<void>;

/** Anne is on the list of the configuration. */
export async function openGarden(more: Partial<SlackOptions> = {}): Promise<Garden> {
  const slack = await fakeSlack(tokens);
  const store = memoryStore();
  let held: PromiseWithResolvers<void> | undefined;
  const provider: ModelProvider = {
    ...{ name: script.name, defaultModel: script.defaultModel, capabilities: script.capabilities },
    async *stream(request, context) {
      for await (const batch of script.stream(request, context)) {
        yield batch;
        await held?.promise;
      }
    },
  };
  const server = createServer({
    runtime: createRuntime({ agents: [createAgent({ name: "helper", provider, tools: [bomb] })], store }),
    ...accessPolicy({ store }),
    authenticate: (request) => users[request.headers.get("authorization")?.replace("Bearer key-of-", "") ?? ""],
  });
  const fetch = (request: Request): Promise<Response> => server.fetch(request, { remoteAddress: "127.0.0.1" });
  const clientOf = (user: string): LoopwrightClient => createClient({ url: "http://localhost", token: `key-of-${user}`, fetch });
  const memory = openChatMemory(":memory:");
  const problems: string[] = [];
  const options: SlackOptions = {
    ...{ ...tokens, apiUrl: slack.url, memory },
    clientFor: ({ user }) => clientOf(user),
    allow: { [anne.id]: { user: "anne", scope: "garden" } },
    report: (message, cause) => void problems.push(`${message} ${String(cause)}`),
    ...more,
  };
  let channel = await openSlack(options);
  const sentIn = (place: string, thread?: string): readonly SentInSlack[] =>
    slack.sent.filter((message) => message.channel === place && message.thread === thread);
  const textsIn = (place: string, thread?: string): readonly string[] => sentIn(place, thread).map(({ text }) => text);
  const newest = (place: string, thread?: string): string => textsIn(place, thread).at(-1) ?? "";
  return {
    ...{ slack, memory, problems, clientOf, fetch, sentIn, textsIn, newest },
    hold() {
      const hold = Promise.withResolvers<void>();
      held = hold;
      return () => {
        held = undefined;
        hold.resolve();
      };
    },
    async restart(changes = {}) {
      await channel.close();
      channel = await openSlack({ ...options, ...changes });
      return channel;
    },
    async newcomer(id, user, name = `Person ${id}`) {
      const person = { id, name };
      const { code } = createLinkCode(memory, { user, scope: "garden" });
      slack.say({ from: person, text: `!link ${code.toUpperCase()}` });
      await until(() => expect(newest(`D${id}`)).toContain(`linked to the user ${user}`));
      return person;
    },
    async close() {
      await channel.close();
      await slack.close();
      await server.close();
      memory.close();
    },
  };
}
