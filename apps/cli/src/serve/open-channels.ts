import { resolve } from "node:path";
import { createClient, type LoopwrightClient } from "@loopwright/client";
import { AgentError, failureOf, isAgentError } from "@loopwright/core";
import { systemClock } from "@loopwright/core/memory";
import type { Clock } from "@loopwright/core/protocol";
import type { AgentServer } from "@loopwright/server";
import { companion } from "../compose/companion.ts";
import type { ChannelSettings } from "./channel-settings.ts";
import type { RunLogger } from "./run-logger.ts";
import type { RunSettings } from "./run-settings.ts";

/** Where links of people are kept, and what was delivered to which chat. */
export const chatMemoryPath = (): string => resolve(".loopwright/chats.db");

/** After a failed start, doubled up to the second one. */
const pauseMs = 1_000;
const pauseMaxMs = 60_000;

interface ChannelParts {
  readonly channels: ChannelSettings;
  readonly wishes: Pick<RunSettings, "token" | "auth">;
  readonly server: AgentServer;
  readonly url: string;
  readonly logger: RunLogger;
  readonly memoryPath?: string;
  readonly clock?: Pick<Clock, "after">;
}

/** Chat channels, at work or about to be. */
export interface OpenChannels {
  /** Rejects with what the operator has to change: AgentError CONFIG_INVALID where a package is missing, UNAUTHENTICATED for a wrong token. */
  readonly failed: Promise<never>;
  close(): Promise<void>;
}

/** Starts the chat channels of a process. A vendor that does not answer is asked again until they are closed, and the server works without it. */
export function openChannels(parts: ChannelParts): OpenChannels {
  const leaving = new AbortController();
  const { signal } = leaving;
  const refused = Promise.withResolvers<never>();
  const opening = openSurely(parts, signal).catch((error: unknown) => {
    if (!signal.aborted) refused.reject(error);
    return undefined;
  });
  return {
    failed: refused.promise,
    async close() {
      leaving.abort(new AgentError("NOT_READY", { message: "The channel was closed." }));
      await (await opening)?.();
    },
  };
}

async function openSurely(parts: ChannelParts, signal: AbortSignal): Promise<() => Promise<void>> {
  const { logger, clock = systemClock } = parts;
  for (let failures = 0; ; failures++) {
    try {
      return await openTogether(parts, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (isAgentError(error, "CONFIG_INVALID") || isAgentError(error, "UNAUTHENTICATED")) throw error;
      if (failures === 0) logger.log("warn", "A chat channel could not be started. It is tried again.", { ...failureOf(error) });
      const { pause } = await import("@loopwright/chat-kit");
      const askedMs = isAgentError(error) ? error.retryAfterMs : undefined;
      await pause(clock, askedMs ?? Math.min(pauseMaxMs, pauseMs * 2 ** failures), signal);
    }
  }
}

async function openTogether(
  { channels: { telegram }, logger, memoryPath = chatMemoryPath(), ...parts }: ChannelParts,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  if (!telegram) return async () => {};
  const { openTelegram } = await companion("@loopwright/chat-telegram", () => import("@loopwright/chat-telegram"));
  const { openChatMemory } = await companion("@loopwright/chat-kit", () => import("@loopwright/chat-kit"));
  const memory = openChatMemory(memoryPath);
  try {
    const report = (message: string, cause: unknown): void => logger.log("warn", message, { ...failureOf(cause) });
    const channel = await openTelegram({ ...telegram, signal, memory, report, clientFor: await clientsOf(parts) });
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
