/*
 * Owns: a Bot API server for tests, on a port of this machine. It refuses what Telegram refuses: a wrong token, a text that is too long, stretches outside
 * of the text, buttons with too much data, two readers of updates at once, chats that do not exist or have blocked the bot, and what comes too fast.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Update } from "grammy/types";
import { type Answer, answerInChat, type FakeChats, type Fields, fakeChats, refusal, type SentByBot } from "./fake-chats.ts";

/** A person that writes to the bot. */
export interface FakePerson {
  readonly id: number;
  readonly name: string;
}

/** A message of a person; `chat` below zero is a group. Default: the private chat. */
export interface FakeWords {
  readonly from: FakePerson;
  readonly text: string;
  readonly chat?: number;
  readonly topic?: number;
  /** The message is an answer to one of the bot. */
  readonly isReply?: boolean;
}

/** A Bot API server for tests. */
export interface FakeTelegram {
  /** For `apiRoot`. */
  readonly url: string;
  /** What the bot has sent, in order; edits change it in place. */
  readonly sent: readonly SentByBot[];
  readonly actions: FakeChats["actions"];
  /** Words that people read after they pressed a button. */
  readonly notices: FakeChats["answers"];
  /** Every request of the bot: the method, and its answer's code. */
  readonly requests: readonly { readonly method: string; readonly status: number }[];
  /** What a webhook was set to. */
  readonly webhook: { readonly url: string; readonly secret: string } | undefined;
  /** A person writes; the update, as a webhook would get it. */
  say(words: FakeWords): Update;
  /** A person presses the button with this label below the newest message that has one. */
  press(from: FakePerson, label: string): Update;
  /** Updates that the bot has not confirmed. */
  readonly unconfirmed: readonly Update[];
  /** The next requests about chats, or about this one alone, are refused with 429 until `allow` is called. */
  limit(seconds: number, chat?: number): void;
  allow(): void;
  block(chat: number): void;
  /** People delete a message of the bot. */
  remove(id: number): void;
  /** The next requests are answered with this status, until `allow` is called. */
  fail(status: number): void;
  close(): Promise<void>;
}

const botId = 4_200;

/** A Bot API server of the bot with this token, `@helper_bot`. */
export async function fakeTelegram(token: string): Promise<FakeTelegram> {
  const state: State = {
    token,
    chats: fakeChats(),
    requests: [],
    limitSeconds: undefined,
    failing: undefined,
    limitedChat: undefined,
    webhook: undefined,
    reading: undefined,
  };
  const server = createServer((request, response) => {
    answer(state, request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { chats } = state;
  const addUpdate = (fields: Omit<Update, "update_id">): Update => {
    const update = { update_id: chats.nextId(), ...fields };
    chats.updates.push(update);
    state.reading?.();
    return update;
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ sent: chats.sent, actions: chats.actions, notices: chats.answers, requests: state.requests },
    get webhook() {
      return state.webhook;
    },
    unconfirmed: chats.updates,
    say: (words) => addUpdate({ message: messageOf(chats, words) as unknown as NonNullable<Update["message"]> }),
    press(from, label) {
      const message = chats.sent.findLast(({ buttons }) => buttons.some((button) => button.label === label));
      const data = message?.buttons.find((button) => button.label === label)?.data;
      if (!message || data === undefined) throw new Error(`No message has the button ${label}.`);
      const id = String(chats.nextId());
      chats.queries.add(id);
      const asked = { message_id: message.id, date: 0, chat: chatOf(message.chat, from) };
      const query = { id, from: userOf(from), chat_instance: "1", message: asked, data };
      return addUpdate({ callback_query: query as unknown as NonNullable<Update["callback_query"]> });
    },
    limit(seconds, chat) {
      Object.assign(state, { limitSeconds: seconds, limitedChat: chat });
    },
    allow() {
      state.limitSeconds = undefined;
      state.failing = undefined;
    },
    block: (chat) => void chats.blocked.add(chat),
    remove: (id) => void chats.sent.splice(0, chats.sent.length, ...chats.sent.filter((message) => message.id !== id)),
    fail(status) {
      state.failing = status;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface State {
  readonly token: string;
  readonly chats: FakeChats;
  readonly requests: { readonly method: string; readonly status: number }[];
  limitSeconds: number | undefined;
  failing: number | undefined;
  /** The only chat that is limited. */
  limitedChat: number | undefined;
  webhook: { readonly url: string; readonly secret: string } | undefined;
  /** Ends the wait of the open request for updates. */
  reading: (() => void) | undefined;
}

const bot = { id: botId, is_bot: true, first_name: "Helper", username: "helper_bot" };

const userOf = ({ id, name }: FakePerson): object => ({ id, is_bot: false, first_name: name });

const chatOf = (id: number, from: FakePerson): object =>
  id < 0 ? { id, type: "supergroup", title: "Garden" } : { id, type: "private", first_name: from.name };

function messageOf(chats: FakeChats, { from, text, chat = from.id, topic, isReply = false }: FakeWords): object {
  chats.known.add(chat);
  const at = text.indexOf(`@${bot.username}`);
  return {
    ...{ message_id: chats.nextId(), date: 0, from: userOf(from), chat: chatOf(chat, from), text },
    ...(at < 0 ? {} : { entities: [{ type: "mention", offset: at, length: bot.username.length + 1 }] }),
    ...(topic === undefined ? {} : { message_thread_id: topic, is_topic_message: true }),
    ...(isReply ? { reply_to_message: { message_id: 1, date: 0, chat: chatOf(chat, from), from: bot, text: "…" } } : {}),
  };
}

async function answer(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, token = "", method = ""] = /^\/bot([^/]+)\/(\w+)$/.exec(request.url ?? "") ?? [];
  const fields = await fieldsOf(request);
  const given = token === state.token ? await resultOf(state, method, { fields, response }) : refusal(401, "Unauthorized");
  const status = given.ok ? 200 : given.error_code;
  state.requests.push({ method, status });
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(given));
}

interface Asked {
  readonly fields: Fields;
  readonly response: ServerResponse;
}

async function resultOf(state: State, method: string, { fields, response }: Asked): Promise<Answer> {
  if (state.failing !== undefined) return refusal(state.failing, "Internal Server Error");
  if (method === "getMe") return { ok: true, result: bot };
  if (method === "getUpdates") return readUpdates(state, fields, response);
  if (method === "setWebhook" || method === "deleteWebhook") return setWebhook(state, fields);
  const isFast =
    state.limitSeconds !== undefined &&
    method !== "answerCallbackQuery" &&
    (state.limitedChat ?? Number(fields["chat_id"])) === Number(fields["chat_id"]);
  if (isFast && state.limitSeconds !== undefined)
    return {
      ...refusal(429, `Too Many Requests: retry after ${state.limitSeconds}`),
      parameters: { retry_after: state.limitSeconds },
    } as Answer;
  return answerInChat(state.chats, method, fields) ?? refusal(404, "Not Found: method not found");
}

function setWebhook(state: State, { url = "", secret_token: secret = "" }: Fields): Answer {
  if (url === "") state.webhook = undefined;
  else if (!String(url).startsWith("https://")) return refusal(400, "Bad Request: bad webhook: an HTTPS URL must be provided for webhook");
  else state.webhook = { url: String(url), secret: String(secret) };
  return { ok: true, result: true };
}

/** The updates from `offset` on; those before it are confirmed, and gone. */
async function readUpdates(state: State, { offset, timeout = 0 }: Fields, response: ServerResponse): Promise<Answer> {
  if (state.webhook)
    return refusal(409, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first");
  if (state.reading) {
    state.reading();
    return refusal(409, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running");
  }
  const { updates } = state.chats;
  const confirmed = updates.findIndex(({ update_id: id }) => id >= Number(offset ?? 0));
  updates.splice(0, confirmed < 0 ? updates.length : confirmed);
  if (updates.length === 0) await news(state, Number(timeout), response);
  return { ok: true, result: [...updates] };
}

/** Resolves when there is an update, after the time-out, or when the reader has left. */
function news(state: State, seconds: number, response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      response.off("close", end);
      if (state.reading === end) state.reading = undefined;
      resolve();
    };
    const timer = setTimeout(end, seconds * 1_000);
    response.on("close", end);
    state.reading = end;
  });
}

/** The parameters of a request: JSON, or a form with a file. */
async function fieldsOf(request: IncomingMessage): Promise<Fields> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const type = request.headers["content-type"] ?? "";
  if (!type.startsWith("multipart/form-data")) return body.length === 0 ? {} : (JSON.parse(body.toString("utf8")) as Fields);
  const form = await new Response(body, { headers: { "content-type": type } }).formData();
  const fields: Record<string, unknown> = {};
  const attached = new Map<string, unknown>();
  for (const [name, value] of form) {
    if (typeof value === "string") fields[name] = value;
    else attached.set(name, { name: value.name, text: await value.text() });
  }
  // A file is sent beside the field that names it.
  for (const [name, value] of Object.entries(fields))
    if (typeof value === "string" && value.startsWith("attach://")) fields[name] = attached.get(value.slice("attach://".length));
  return fields;
}
