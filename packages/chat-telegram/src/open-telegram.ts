import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type ChatBridgeOptions, createChatBridge } from "@loopwright/chat-kit";
import { systemClock } from "@loopwright/core/memory";
import { AgentError } from "@loopwright/core/protocol";
import type { Api } from "grammy";
import type { Update, UserFromGetMe } from "grammy/types";
import { incomingOf } from "./incoming.ts";
import { pollUpdates, updateKinds } from "./poll-updates.ts";
import { webhookServer } from "./take-webhook.ts";
import { errorOfApi, telegramApi } from "./telegram-api.ts";
import { telegramSurface } from "./telegram-surface.ts";

export interface TelegramWebhook {
  /** Where Telegram sends the updates: an https address that a proxy passes on to `port`. */
  readonly url: string;
  /** Telegram sends it with each update: 1 to 256 characters of `[A-Za-z0-9_-]`. */
  readonly secret: string;
  /** 0: any free one. */
  readonly port: number;
  /** Default: this machine alone, `127.0.0.1`. */
  readonly host?: string;
}

export interface TelegramOptions extends Omit<ChatBridgeOptions, "surface"> {
  /** Of the bot, from @BotFather. */
  readonly token: string;
  /** A Bot API server of one's own. Default: that of Telegram. */
  readonly apiRoot?: string | undefined;
  /** Default: the updates are asked for, which needs no public address. */
  readonly webhook?: TelegramWebhook | undefined;
  /** Aborted: the start is given up. */
  readonly signal?: AbortSignal;
}

/** A bot that is at work. */
export interface TelegramChannel {
  /** Without `@`. */
  readonly botName: string;
  /** Of the webhook. */
  readonly port: number | undefined;
  /** Stops taking and delivering; what was not confirmed comes again at the next start. */
  close(): Promise<void>;
}

const localHost = "127.0.0.1";

/** Starts a bot: its chats become sessions. @throws AgentError UNAUTHENTICATED for a wrong token, NOT_READY, CONFIG_INVALID */
export async function openTelegram({ token, apiRoot, webhook, signal: givenUp, ...options }: TelegramOptions): Promise<TelegramChannel> {
  const { clock = systemClock, report } = options;
  const leaving = new AbortController();
  const signal = givenUp ? AbortSignal.any([leaving.signal, givenUp]) : leaving.signal;
  const api = telegramApi({ token, apiRoot, clock, signal });
  const bot = await asked(() => api.getMe(signal as Parameters<Api["getMe"]>[0]));
  signal.throwIfAborted();
  const bridge = createChatBridge({ ...options, surface: telegramSurface(api) });
  const take = takeUpdate(api, bot, bridge);
  bridge.start();
  const starting = webhook ? takeWebhook(api, webhook, { take, report }) : askForUpdates({ api, clock, signal, report, take });
  const taking = await starting.catch(async (error: unknown) => {
    // The start may be tried again: two bridges would deliver everything twice.
    leaving.abort();
    await bridge.close();
    throw error;
  });
  return {
    botName: bot.username,
    port: taking.port,
    async close() {
      leaving.abort(new AgentError("NOT_READY", { message: "The channel was closed." }));
      // At once: an update that is being taken may wait for a message of the bridge.
      await Promise.all([taking.end(), bridge.close()]);
    },
  };
}

interface Taking {
  readonly port: number | undefined;
  end(): Promise<void>;
}

async function askForUpdates(parts: Parameters<typeof pollUpdates>[0]): Promise<Taking> {
  // Without dropping updates: those that came in the meantime are waiting.
  await asked(() => parts.api.deleteWebhook());
  const polling = pollUpdates(parts).catch((error: unknown) => {
    if (!parts.signal.aborted) parts.report("The bot does not ask for updates any more.", error);
  });
  return { port: undefined, end: () => polling };
}

async function takeWebhook(
  api: Api,
  { url, secret, port, host = localHost }: TelegramWebhook,
  parts: Omit<Parameters<typeof webhookServer>[0], "secret">,
): Promise<Taking> {
  if (!/^[\w-]{1,256}$/.test(secret) || !/^https:/i.test(url))
    throw new AgentError("CONFIG_INVALID", {
      message: "A webhook of Telegram needs an https address and a secret of 1 to 256 letters, digits, `_` and `-`.",
      fix: "Set both, for example with the secret that `openssl rand -hex 32` prints.",
    });
  const server = webhookServer({ ...parts, secret });
  server.listen(port, host);
  await once(server, "listening");
  try {
    await asked(() => api.setWebhook(url, { secret_token: secret, allowed_updates: updateKinds }));
  } catch (error) {
    await closed(server);
    throw error;
  }
  return { port: (server.address() as AddressInfo).port, end: () => closed(server) };
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}

/** Deals with one update; rejects with what may pass. */
function takeUpdate(api: Api, bot: UserFromGetMe, bridge: ReturnType<typeof createChatBridge>): (update: Update) => Promise<void> {
  return async (update) => {
    const incoming = incomingOf(update, bot);
    if (!incoming) return;
    if ("message" in incoming) return bridge.receive(incoming.message);
    const text = await bridge.press(incoming.press);
    // Telegram forgets a question after some seconds; the decision counts all the same.
    await api.answerCallbackQuery(incoming.query, { text: text.slice(0, noticeCharsMax) }).catch(() => {});
  };
}

/** @see https://core.telegram.org/bots/api#answercallbackquery (2026-11-20) */
const noticeCharsMax = 200;

async function asked<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw errorOfApi(error);
  }
}
