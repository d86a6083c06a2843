import { type ChatBridge, type ChatBridgeOptions, type ChatMemory, createChatBridge, type ReportProblem } from "@loopwright/chat-kit";
import { systemClock } from "@loopwright/core/memory";
import { AgentError } from "@loopwright/core/protocol";
import type { WebClient } from "@slack/web-api";
import { openInbox } from "./inbox.ts";
import { namedIn, plainWords, pressOf, type SlackBot, type SlackPress, type SlackWords, wordsOf } from "./incoming.ts";
import { type NameOf, peopleNames } from "./people-names.ts";
import { slackApi, translated } from "./slack-api.ts";
import { escaped, slackSurface, targetOf } from "./slack-surface.ts";
import { type Envelope, stayConnected } from "./stay-connected.ts";

export interface SlackOptions extends Omit<ChatBridgeOptions, "surface"> {
  /** Of the bot, `xoxb-`: with the scopes of the README. */
  readonly botToken: string;
  /** Of the app, `xapp-`: with the scope `connections:write`. */
  readonly appToken: string;
  /** A Web API of one's own. Default: that of Slack. */
  readonly apiUrl?: string | undefined;
  /** Aborted: the start is given up. */
  readonly signal?: AbortSignal;
}

/** An app that is at work. */
export interface SlackChannel {
  /** Without `@`. */
  readonly botName: string;
  readonly team: string;
  /** Stops receiving and delivering; messages that were not delivered yet are delivered at the next start. */
  close(): Promise<void>;
}

/** Starts an app in one workspace: its chats become sessions. @throws AgentError UNAUTHENTICATED for a wrong token, NOT_READY, RATE_LIMITED */
export async function openSlack({ botToken, appToken, apiUrl, signal: givenUp, ...options }: SlackOptions): Promise<SlackChannel> {
  const { clock = systemClock, report, memory, allow = {} } = options;
  const leaving = new AbortController();
  const signal = givenUp ? AbortSignal.any([leaving.signal, givenUp]) : leaving.signal;
  const api = slackApi({ token: botToken, apiUrl, signal });
  const { bot, name, team } = await identityOf(api);
  signal.throwIfAborted();
  const bridge = createChatBridge({ ...options, surface: slackSurface(api) });
  const nameOf = peopleNames({ api, clock, report });
  const deliver = async (words: SlackWords): Promise<void> => bridge.receive(await messageOf(words, nameOf));
  const inbox = openInbox({ memory, bot: bot.bot, clock, signal, report, deliver });
  bridge.start();
  inbox.start();
  const envelopes = envelopeTaker({ api, bot, bridge, inbox, memory, report, allows: (app) => Object.hasOwn(allow, app) });
  const { ended } = await stayConnected({ appToken, apiUrl, clock, signal, report, take: envelopes }).catch(async (error: unknown) => {
    // The start may be tried again: two bridges would deliver everything twice.
    leaving.abort();
    await Promise.all([bridge.close(), inbox.ended()]);
    throw error;
  });
  return {
    ...{ botName: name, team },
    async close() {
      leaving.abort(new AgentError("NOT_READY", { message: "The channel was closed." }));
      await Promise.all([ended, inbox.ended(), bridge.close()]);
    },
  };
}

async function identityOf(api: WebClient): Promise<{ readonly bot: SlackBot; readonly name: string; readonly team: string }> {
  const { user_id: user, bot_id: bot, team_id: teamId, user: name = "bot", team = "" } = await translated(() => api.auth.test());
  if (user === undefined || bot === undefined || teamId === undefined)
    throw new AgentError("UNAUTHENTICATED", {
      message: "The token for Slack is not one of a bot.",
      fix: "Set SLACK_BOT_TOKEN to the Bot User OAuth Token of the app: it begins with `xoxb-`.",
    });
  return { bot: { user, bot, team: teamId }, name, team };
}

/** Words as the bridge takes them. */
async function messageOf({ key, place, isPrivate, author, authorName, text }: SlackWords, nameOf: NameOf) {
  const names = new Map<string, string>();
  for (const person of new Set(namedIn(text))) names.set(person, await nameOf(person));
  const name = authorName ?? (await nameOf(author));
  const plain = plainWords(text, names).replace(/^!(?=[a-z]+(?:\s|$))/, "/");
  return { key, place, isPrivate, person: { id: author, name }, text: plain };
}

interface TakerParts {
  readonly api: WebClient;
  readonly bot: SlackBot;
  readonly bridge: ChatBridge;
  readonly inbox: ReturnType<typeof openInbox>;
  readonly memory: ChatMemory;
  readonly report: ReportProblem;
  readonly allows: (app: string) => boolean;
}

/** Deals with what Slack delivers: at once with all that has to be done before the acknowledgement. */
function envelopeTaker({ api, bot, bridge, inbox, memory, report, allows }: TakerParts): (envelope: Envelope) => void {
  const threadKey = (place: string): string => `thread:slack:${bot.bot}:${place}`;
  const knows = (place: string): boolean => memory.read(threadKey(place)) !== undefined;
  /** False: Slack is to deliver them again. */
  const keep = (body: unknown): boolean => {
    const words = wordsOf(body, { bot, knows, allows });
    if (!words) return true;
    const outcome = inbox.add(words);
    if (outcome !== "kept") return outcome === "known";
    memory.writeOnce(threadKey(words.place), true);
    // A sign that the message has arrived; without the scope for it there is none.
    api.reactions.add({ channel: words.channel, timestamp: words.ts, name: "eyes" }).catch(() => {});
    return true;
  };
  const press = async ({ place, user, userName, button }: SlackPress): Promise<void> => {
    const text = await bridge.press({ place, person: { id: user, name: userName }, button });
    const { channel, thread } = targetOf(place);
    await translated(() => api.chat.postEphemeral({ channel, user, ...thread, text: escaped(text) }));
  };
  return ({ type, body, ack }) => {
    try {
      if (type === "events_api" && !keep(body)) return;
    } catch (error) {
      report("Words to the bot could not be kept. Slack delivers them again.", error);
      return;
    }
    // Without the acknowledgement Slack delivers it again, and it is known then.
    ack().catch(() => {});
    const pressed = type === "interactive" ? pressOf(body) : undefined;
    if (pressed) press(pressed).catch((error: unknown) => report("The answer to a button could not be delivered.", error));
  };
}
