import { Chat } from "@ai-sdk/react";
import { type Agent, type AgentSettings, createAgent } from "@loopwright/core";
import { memoryStore, type ScriptedProvider, type ScriptedStep, scripted } from "@loopwright/core/memory";
import { createRuntime } from "@loopwright/host";
import { createServer, type Principal } from "@loopwright/server";
import { listen } from "@loopwright/server/node";
import { type ChatInit, DefaultChatTransport, type UIMessage } from "ai";
import { onTestFinished } from "vitest";
import { aiSdkRoutes } from "../src/index.ts";

/** A page's chat as the AI SDK keeps it. */
export type PageChat = Chat<UIMessage>;

interface PageOptions extends Omit<ChatInit<UIMessage>, "transport"> {
  readonly user?: string;
  readonly fetch?: typeof fetch;
}

/** A server on a port of its own, and pages of the AI SDK that talk to it. */
export interface ChatServer {
  readonly url: string;
  readonly provider: ScriptedProvider;
  /** The chat of a page: what `useChat` keeps, with the SDK's own transport. */
  page(options?: PageOptions): PageChat;
  /** Sends a request as this user. */
  send(path: string, init?: RequestInit & { readonly user?: string }): Promise<Response>;
}

const users: Readonly<Record<string, Principal>> = {
  anne: { user: "anne", scope: "garden" },
  ben: { user: "ben", scope: "garden" },
};

const headersOf = (user = "anne") => ({ authorization: `Bearer key-of-${user}` });

interface ServedOptions extends Partial<AgentSettings> {
  readonly replayMs?: number;
}

/** An agent `helper` that plays these turns. */
export async function chatServer(script: readonly ScriptedStep[], { replayMs, ...more }: ServedOptions = {}): Promise<ChatServer> {
  const provider = scripted(script);
  const agents: readonly Agent[] = [createAgent({ name: "helper", provider, ...more })];
  const server = createServer({
    ...{ runtime: createRuntime({ agents, store: memoryStore() }), routes: aiSdkRoutes(replayMs === undefined ? {} : { replayMs }) },
    authenticate: (request) => users[request.headers.get("authorization")?.replace("Bearer key-of-", "") ?? ""],
  });
  const { url, close } = await listen(server, { port: 0 });
  onTestFinished(async () => {
    await close();
    await server.close();
  });
  return {
    ...{ url, provider },
    page({ user, fetch: fetchOf, ...init } = {}) {
      const transport = new DefaultChatTransport({
        api: `${url}/api/chat`,
        headers: headersOf(user),
        ...(fetchOf ? { fetch: fetchOf } : {}),
      });
      return new Chat({ id: "first chat", ...init, transport });
    },
    send: (path, { user, ...init } = {}) => fetch(`${url}${path}`, { ...init, headers: { ...headersOf(user), ...init.headers } }),
  };
}

/** The parts of the last message, without those that only mark where a step begins. */
export const lastParts = (chat: PageChat): UIMessage["parts"] =>
  (chat.messages.at(-1)?.parts ?? []).filter(({ type }) => type !== "step-start");

/** The text of the last message. */
export const lastText = (chat: PageChat): string =>
  lastParts(chat)
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("");
