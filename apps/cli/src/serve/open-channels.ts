import { resolve } from "node:path";
import { createClient, type LoopwrightClient } from "@loopwright/client";
import { failureOf } from "@loopwright/core";
import type { AgentServer } from "@loopwright/server";
import { companion } from "../compose/companion.ts";
import type { ChannelSettings } from "./channel-settings.ts";
import type { RunLogger } from "./run-logger.ts";
import type { RunSettings } from "./run-settings.ts";

/** Where links of people are kept, and what was delivered to which chat. */
export const chatMemoryPath = (): string => resolve(".loopwright/chats.db");

interface ChannelParts {
  readonly channels: ChannelSettings;
  readonly wishes: Pick<RunSettings, "token" | "auth">;
  readonly server: AgentServer;
  readonly url: string;
  readonly logger: RunLogger;
}

/** Starts the chat channels of a process; what is returned ends them. @throws AgentError CONFIG_INVALID where a package is missing, UNAUTHENTICATED for a wrong token */
export async function openChannels({ channels: { telegram }, logger, ...parts }: ChannelParts): Promise<() => Promise<void>> {
  if (!telegram) return async () => {};
  const { openTelegram } = await companion("@loopwright/chat-telegram", () => import("@loopwright/chat-telegram"));
  const { openChatMemory } = await companion("@loopwright/chat-kit", () => import("@loopwright/chat-kit"));
  const memory = openChatMemory(chatMemoryPath());
  try {
    const report = (message: string, cause: unknown): void => logger.log("warn", message, { ...failureOf(cause) });
    const channel = await openTelegram({ ...telegram, memory, report, clientFor: await clientsOf(parts) });
    logger.notify("channel", [`Telegram: @${channel.botName} is at work.`], { channel: "telegram", bot: channel.botName });
    return async () => {
      await channel.close();
      memory.close();
    };
  } catch (error) {
    memory.close();
    throw error;
  }
}

/** Clients of the server in this process: of the linked user where callers have credentials, else of the one user that there is. */
async function clientsOf({
  wishes: { token, auth },
  server,
  url,
}: Pick<ChannelParts, "wishes" | "server" | "url">): Promise<
  (principal: { readonly user: string; readonly scope: string }) => LoopwrightClient
> {
  const fetch = (request: Request): Promise<Response> => server.fetch(request, { remoteAddress: "127.0.0.1" });
  const { actingClients } = await companion("@loopwright/chat-kit", () => import("@loopwright/chat-kit"));
  if (auth?.internalToken !== undefined) return actingClients({ url, fetch, token: auth.internalToken });
  const client = createClient({ url, fetch, ...(token === undefined ? {} : { token }) });
  return () => client;
}
