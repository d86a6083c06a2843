/*
 * Owns: which events of Slack are words to the bot.
 * Invariants: in a channel only what names the bot, or continues a thread in which it was named, is for it; what the bot writes itself never is.
 */
import { placeOf } from "./slack-surface.ts";

/** The bot as Slack knows it. */
export interface SlackBot {
  readonly user: string;
  readonly bot: string;
  readonly team: string;
}

/** Words to the bot, as they came. */
export interface SlackWords {
  /** One for each message: Slack sends a mention as two events. */
  readonly key: string;
  readonly place: string;
  readonly channel: string;
  readonly ts: string;
  readonly isPrivate: boolean;
  readonly author: string;
  /** Of an app; people are asked for theirs. */
  readonly authorName?: string;
  /** With Slack's markup. */
  readonly text: string;
  readonly files: number;
}

/** A button that was pressed. */
export interface SlackPress {
  readonly place: string;
  readonly user: string;
  readonly userName: string;
  readonly button: string;
}

interface IncomingParts {
  readonly bot: SlackBot;
  /** Whether the bot was named in the thread before. */
  readonly knows: (place: string) => boolean;
  /** Whether the words of this app count. */
  readonly allows: (app: string) => boolean;
}

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {});
const textIn = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

const isMessage = ({ type, subtype }: Fields): boolean => (type === "message" || type === "app_mention") && subtypes.has(subtype);

const subtypes: ReadonlySet<unknown> = new Set([undefined, "file_share", "thread_broadcast", "bot_message"]);

/** The words of an event; `undefined` for one that is not for the bot. */
export function wordsOf(body: unknown, { bot, knows, allows }: IncomingParts): SlackWords | undefined {
  const event = fieldsOf(fieldsOf(body)["event"]);
  const [channel, ts] = [textIn(event["channel"]), textIn(event["ts"])];
  const author = isMessage(event) ? authorOf(event, bot, allows) : undefined;
  if (channel === undefined || ts === undefined || author === undefined) return undefined;
  const isPrivate = event["channel_type"] === "im" || channel.startsWith("D");
  const root = textIn(event["thread_ts"]);
  const thread = root === ts ? undefined : root;
  const place = placeOf(channel, thread ?? (isPrivate ? undefined : ts));
  const text = textIn(event["text"]) ?? "";
  const mention = `<@${bot.user}>`;
  const isNamed = event["type"] === "app_mention" || text.includes(mention);
  const isContinued = thread !== undefined && knows(place) && !/<@[UW][A-Z0-9]+/.test(text);
  if (!(isPrivate || isNamed || isContinued)) return undefined;
  const files = Array.isArray(event["files"]) ? event["files"].length : 0;
  const words = text.replaceAll(mention, " ").replace(/ {2,}/g, " ").trim();
  if (words === "" && files === 0) return undefined;
  return { key: `${bot.team}-${channel}-${ts}`, place, channel, ts, isPrivate, ...author, text: words, files };
}

function authorOf(event: Fields, bot: SlackBot, allows: (app: string) => boolean): Pick<SlackWords, "author" | "authorName"> | undefined {
  const [user, app] = [textIn(event["user"]), textIn(event["bot_id"])];
  if (user === bot.user || app === bot.bot) return undefined;
  if (app === undefined) return user === undefined ? undefined : { author: user };
  const author = [user, app].find((id) => id !== undefined && allows(id));
  return author === undefined ? undefined : { author, authorName: textIn(event["username"]) ?? app };
}

/** The button of an interactive payload; `undefined` for another one. */
export function pressOf(body: unknown): SlackPress | undefined {
  const payload = fieldsOf(body);
  const [user, channel, message] = [fieldsOf(payload["user"]), fieldsOf(payload["channel"]), fieldsOf(payload["message"])];
  const action = fieldsOf(Array.isArray(payload["actions"]) ? payload["actions"][0] : undefined);
  const [userId, channelId, button] = [textIn(user["id"]), textIn(channel["id"]), textIn(action["action_id"])];
  if (payload["type"] !== "block_actions" || userId === undefined || channelId === undefined || button === undefined) return undefined;
  const thread = textIn(message["thread_ts"]);
  const place = placeOf(channelId, thread === message["ts"] ? undefined : thread);
  return { place, user: userId, userName: textIn(user["name"]) ?? userId, button };
}

/** Slack's markup as plain words; `names` has those of the people that it names. */
export function plainWords(text: string, names: ReadonlyMap<string, string>): string {
  return text
    .replace(/<([^<>|]+)(?:\|([^<>]*))?>/g, (_, target: string, label = "") => {
      if (target.startsWith("@")) return `@${names.get(target.slice(1)) ?? (label === "" ? target.slice(1) : label)}`;
      if (target.startsWith("#")) return `#${label === "" ? target.slice(1) : label}`;
      if (target.startsWith("!")) return label === "" ? `@${target.slice(1)}` : label;
      const address = target.replace(/^mailto:/, "");
      return label === "" || address.endsWith(label) ? address : `[${label}](${address})`;
    })
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}

/** The people that a text names. */
export const namedIn = (text: string): readonly string[] => [...text.matchAll(/<@([UW][A-Z0-9]+)(?:\|[^<>]*)?>/g)].map(([, id = ""]) => id);
