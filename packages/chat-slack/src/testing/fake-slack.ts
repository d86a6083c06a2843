/*
 * Owns: a Slack for tests, on a port of this machine. It refuses what Slack refuses: wrong tokens, a second use of a connection's address, texts and blocks that are
 * too long or not valid, channels and threads that do not exist, files of another size than was named, what comes too fast; and it delivers again what is not
 * acknowledged in time.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { type FakeSocket, fakeSocket } from "./fake-socket.ts";
import {
  type Answer,
  answerInWorkspace,
  type FakeWorkspace,
  type Fields,
  fakeWorkspace,
  refusal,
  type SentInSlack,
} from "./fake-workspace.ts";

/** A person of the workspace. */
export interface SlackPerson {
  /** `U` and capitals or digits. */
  readonly id: string;
  readonly name: string;
}

/** A message of a person. Default: a direct message. `<@UBOT>` in the text names the bot. */
export interface SlackTyped {
  readonly from: SlackPerson;
  readonly text: string;
  readonly channel?: string;
  /** The `ts` of the message that begins the thread. */
  readonly thread?: string;
  /** The message is one of this app. */
  readonly app?: string;
  readonly files?: readonly object[];
}

/** A Slack for tests. */
export interface FakeSlack
  extends Pick<FakeSocket, "redeliver" | "refresh" | "cut" | "loseAcks" | "unacknowledged" | "connections" | "retries"> {
  /** For `apiUrl`. */
  readonly url: string;
  /** What the bot has sent, in order; edits change it in place. */
  readonly sent: readonly SentInSlack[];
  readonly whispers: FakeWorkspace["whispers"];
  readonly reactions: FakeWorkspace["reactions"];
  /** Every request of the app: the method, and `ok` or the error. */
  readonly requests: readonly { readonly method: string; readonly outcome: string }[];
  /** A person writes; the message's `ts`. */
  say(typed: SlackTyped): string;
  /** A person presses the button with this label below the newest message that has one. */
  press(from: SlackPerson, label: string): void;
  /** The next requests of a method are refused with 429 until `allow` is called. */
  limit(method: string, seconds: number): void;
  allow(): void;
  /** The bot may not write in this channel any more. */
  archive(channel: string): void;
  /** People delete a message of the bot. */
  remove(ts: string): void;
  /** The next answers have this status and no body, until `allow` is called. */
  fail(status: number): void;
  close(): Promise<void>;
}

interface FakeSlackOptions {
  readonly botToken: string;
  readonly appToken: string;
  /** Default: Slack's three seconds. */
  readonly ackMs?: number;
}

interface State {
  readonly options: FakeSlackOptions;
  readonly workspace: FakeWorkspace;
  readonly socket: FakeSocket;
  readonly requests: { readonly method: string; readonly outcome: string }[];
  limited: { readonly method: string; readonly seconds: number } | undefined;
  failing: number | undefined;
  host: string;
}

const bot = { user: "UBOT", bot: "BBOT", team: "T1" };

/** A Slack with one app, `@helper`, whose tokens these are. */
export async function fakeSlack(options: FakeSlackOptions): Promise<FakeSlack> {
  const workspace = fakeWorkspace();
  const socket = fakeSocket(options.ackMs ?? 3_000);
  const state: State = { options, workspace, socket, requests: [], limited: undefined, failing: undefined, host: "" };
  const server = createServer((request, response) => {
    answer(state, request).then(
      ({ status, headers = {}, body }) => response.writeHead(status, headers).end(body),
      () => response.destroy(),
    );
  });
  server.on("upgrade", (request, duplex, head) => socket.upgrade(request, duplex, head));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  state.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.defineProperties(controls(state, server), Object.getOwnPropertyDescriptors(shown(socket))) as FakeSlack;
}

/** What changes by itself. */
const shown = (socket: FakeSocket): Pick<FakeSlack, "unacknowledged" | "connections" | "retries"> => ({
  get unacknowledged() {
    return socket.unacknowledged;
  },
  get connections() {
    return socket.connections;
  },
  get retries() {
    return socket.retries;
  },
});

function controls(state: State, server: ReturnType<typeof createServer>): Omit<FakeSlack, "unacknowledged" | "connections" | "retries"> {
  const { workspace, socket, requests } = state;
  const { sent, whispers, reactions } = workspace;
  return {
    ...{ url: `http://${state.host}/api/`, sent, whispers, reactions, requests },
    ...{ redeliver: socket.redeliver, refresh: socket.refresh, cut: socket.cut, loseAcks: socket.loseAcks },
    say: (typed) => say(state, typed),
    press(from, label) {
      const message = sent.findLast(({ buttons }) => buttons.some((button) => button.label === label));
      const id = message?.buttons.find((button) => button.label === label)?.id;
      if (!message || id === undefined) throw new Error(`No message has the button ${label}.`);
      workspace.people.set(from.id, from.name);
      const { ts, channel, thread } = message;
      socket.deliver("interactive", {
        ...{ type: "block_actions", user: { id: from.id, name: from.name }, channel: { id: channel } },
        ...{ message: { ts, ...(thread === undefined ? {} : { thread_ts: thread }) }, actions: [{ action_id: id, value: id }] },
      });
    },
    limit: (method, seconds) => void Object.assign(state, { limited: { method, seconds } }),
    fail: (status) => void Object.assign(state, { failing: status }),
    allow: () => void Object.assign(state, { limited: undefined, failing: undefined }),
    archive: (channel) => void workspace.archived.add(channel),
    remove: (ts) => void workspace.deleted.add(ts),
    async close() {
      socket.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Delivers a message as an app gets it that is subscribed to messages and to mentions: a mention twice. */
function say({ workspace, socket }: State, { from, text, channel = `D${from.id}`, thread, app, files }: SlackTyped): string {
  const ts = workspace.nextTs();
  workspace.people.set(from.id, from.name);
  const messages = workspace.channels.get(channel) ?? new Set();
  workspace.channels.set(channel, messages.add(ts));
  const event = {
    ...{ type: "message", channel, ts, event_ts: ts, text, channel_type: channel.startsWith("D") ? "im" : "channel" },
    ...(app === undefined ? { user: from.id } : { bot_id: app, username: from.name, subtype: "bot_message" }),
    ...(thread === undefined ? {} : { thread_ts: thread }),
    ...(files ? { files, subtype: "file_share" } : {}),
  };
  const events = text.includes(`<@${bot.user}>`) && channel.startsWith("C") ? [{ ...event, type: "app_mention" }, event] : [event];
  for (const [index, one] of events.entries())
    socket.deliver("events_api", { type: "event_callback", team_id: bot.team, event_id: `Ev${ts}${index}`, event: one });
  return ts;
}

interface HttpAnswer {
  readonly status: number;
  readonly headers?: { readonly [name: string]: string };
  readonly body: string;
}

const json = (answer: Answer): HttpAnswer => ({
  status: 200,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(answer),
});

async function answer(state: State, request: IncomingMessage): Promise<HttpAnswer> {
  const body = await bodyOf(request);
  const [, id = ""] = /^\/upload\/(\w+)$/.exec(request.url ?? "") ?? [];
  if (id !== "") return takeUpload(state, id, { body, type: request.headers["content-type"] ?? "" });
  const [, method = ""] = /^\/api\/([\w.]+)$/.exec(request.url ?? "") ?? [];
  const note = (outcome: string, given: HttpAnswer): HttpAnswer => {
    state.requests.push({ method, outcome });
    return given;
  };
  if (state.failing !== undefined) return note(String(state.failing), { status: state.failing, body: "" });
  if (state.limited?.method === method)
    return note("ratelimited", { status: 429, headers: { "retry-after": String(state.limited.seconds) }, body: "" });
  const given = answerMethod(state, method, {
    token: request.headers.authorization ?? "",
    fields: Object.fromEntries(new URLSearchParams(String(body))),
  });
  return note(given.ok ? "ok" : given.error, json(given));
}

function answerMethod(state: State, method: string, { token, fields }: { readonly token: string; readonly fields: Fields }): Answer {
  const { botToken, appToken } = state.options;
  const isOpening = method === "apps.connections.open";
  const wanted = isOpening ? appToken : botToken;
  if (token === "") return refusal("not_authed");
  if (token !== `Bearer ${wanted}`)
    return refusal(token === `Bearer ${isOpening ? botToken : appToken}` ? "not_allowed_token_type" : "invalid_auth");
  if (isOpening) return { ok: true, url: state.socket.ticket(state.host) };
  if (method === "auth.test") return { ok: true, user_id: bot.user, bot_id: bot.bot, team_id: bot.team, user: "helper", team: "Garden" };
  const given = answerInWorkspace(state.workspace, method, fields);
  return given.ok && "upload_url" in given ? { ...given, upload_url: `http://${state.host}/upload/${String(given["file_id"])}` } : given;
}

async function takeUpload(
  { workspace }: State,
  id: string,
  { body, type }: { readonly body: Buffer; readonly type: string },
): Promise<HttpAnswer> {
  const upload = workspace.uploads.get(id);
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
  const [file] = [...form.values()];
  const bytes = file instanceof File ? Buffer.from(await file.arrayBuffer()) : undefined;
  if (!upload || bytes?.length !== upload.sizeBytes) return { status: 400, body: "" };
  upload.text = bytes.toString("utf8");
  return { status: 200, body: `OK - ${bytes.length}` };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}
