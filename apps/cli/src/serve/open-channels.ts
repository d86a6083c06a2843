import { resolve } from "node:path";
import type { ChatMemory, ChatPrincipal } from "@loopwright/chat-kit";
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

/** Starts the chat channels of a process, each by itself. A vendor that does not answer is asked again until they are closed, and the server works without it. */
export function openChannels(parts: ChannelParts): OpenChannels {
  const leaving = new AbortController();
  const { signal } = leaving;
  const refused = Promise.withResolvers<never>();
  const opening = openersOf(parts.channels).map((open) =>
    openSurely(parts, open, signal).catch((error: unknown) => {
      if (!signal.aborted) refused.reject(error);
      return undefined;
    }),
  );
  return {
    failed: refused.promise,
    async close() {
      leaving.abort(new AgentError("NOT_READY", { message: "The channel was closed." }));
      await Promise.all(opening.map(async (one) => (await one)?.()));
    },
  };
}

/** What a channel is opened with. */
interface OpenerParts {
  readonly memory: ChatMemory;
  readonly signal: AbortSignal;
  readonly report: (message: string, cause: unknown) => void;
  readonly clientFor: (principal: ChatPrincipal) => LoopwrightClient;
}

/** A channel at work, as the log of the process names it. */
interface OpenedChannel {
  readonly name: string;
  readonly vendor: string;
  readonly bot: string;
  readonly close: () => Promise<void>;
}

type Opener = (parts: OpenerParts) => Promise<OpenedChannel>;

function openersOf({ slack, telegram }: ChannelSettings): readonly Opener[] {
  const openers: Opener[] = [];
  if (slack)
    openers.push(async (parts) => {
      const { openSlack } = await companion("@loopwright/chat-slack", () => import("@loopwright/chat-slack"));
      const { botName, close } = await openSlack({ ...slack, ...parts });
      return { name: "slack", vendor: "Slack", bot: botName, close };
    });
  if (telegram)
    openers.push(async (parts) => {
      const { openTelegram } = await companion("@loopwright/chat-telegram", () => import("@loopwright/chat-telegram"));
      const { botName, close } = await openTelegram({ ...telegram, ...parts });
      return { name: "telegram", vendor: "Telegram", bot: botName, close };
    });
  return openers;
}

async function openSurely(parts: ChannelParts, open: Opener, signal: AbortSignal): Promise<() => Promise<void>> {
  const { logger, clock = systemClock } = parts;
  for (let failures = 0; ; failures++) {
    try {
      return await openOne(parts, open, signal);
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

async function openOne(
  { logger, memoryPath = chatMemoryPath(), ...parts }: ChannelParts,
  open: Opener,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const { openChatMemory } = await companion("@loopwright/chat-kit", () => import("@loopwright/chat-kit"));
  const memory = openChatMemory(memoryPath);
  try {
    const report = (message: string, cause: unknown): void => logger.log("warn", message, { ...failureOf(cause) });
    const { name, vendor, bot, close } = await open({ signal, memory, report, clientFor: clientsOf(parts) });
    logger.notify("channel", [`${vendor}: @${bot} is at work.`], { channel: name, bot });
    return async () => {
      await close();
      memory.close();
    };
  } catch (error) {
    memory.close();
    throw error;
  }
}

/** Clients of the server in this process: of the user that is named where callers have credentials, else of the one user that there is. */
export function clientsOf({
  wishes: { token, auth },
  server,
  url,
}: Pick<ChannelParts, "wishes" | "server" | "url">): (principal: ChatPrincipal) => LoopwrightClient {
  const fetch = (request: Request): Promise<Response> => server.fetch(request, { remoteAddress: "127.0.0.1" });
  const internal = auth?.internalToken;
  if (internal !== undefined)
    return ({ user, scope }) => createClient({ url, fetch, token: internal, scope, headers: { "X-Act-For": encodeURIComponent(user) } });
  const client = createClient({ url, fetch, ...(token === undefined ? {} : { token }) });
  return () => client;
}
