/*
 * Owns: the way of a message from a chat into the session of that chat.
 * Invariants
 *  B1 a message becomes exactly one input, however often it is delivered: its key is the idempotency key;
 *  B2 `receive` resolves when the input is in the log; until then the vendor is not to forget the message;
 *  B3 each request is made as the linked user, and a person without a link causes none.
 */
import type { LoopwrightClient } from "@loopwright/client";
import { systemClock } from "@loopwright/core/memory";
import { type AgentError, type Clock, isAgentError } from "@loopwright/core/protocol";
import { approvalMessages } from "./approval-messages.ts";
import { botReplies } from "./bot-replies.ts";
import { commandOf } from "./chat-commands.ts";
import { clientsMax, followersMax } from "./chat-limits.ts";
import type { ChatMemory } from "./chat-memory.ts";
import type { ChatMessage, ChatPress, ChatSurface } from "./chat-surface.ts";
import { words } from "./chat-words.ts";
import type { ReportProblem } from "./deliver.ts";
import { createFollowers } from "./followers.ts";
import { isLimit, isTransient } from "./is-transient.ts";
import { type ChatPrincipal, isSamePrincipal, linkedPeople } from "./linked-people.ts";
import { placesIn } from "./places.ts";
import { recordMessage } from "./record-message.ts";
import { secureRandom } from "./secure-random.ts";

export interface ChatBridgeOptions {
  readonly surface: ChatSurface;
  readonly memory: ChatMemory;
  /** A client whose requests are those of this user. */
  readonly clientFor: (principal: ChatPrincipal) => LoopwrightClient;
  /** People, by the id that the vendor gives them, that need no code. */
  readonly allow?: { readonly [person: string]: ChatPrincipal };
  /** Of new sessions. Default: the server's first. */
  readonly agent?: string | undefined;
  readonly clock?: Pick<Clock, "now" | "after">;
  /** Numbers in [0, 1) that cannot be guessed. Default: of `crypto`. */
  readonly random?: () => number;
  /** Gets what goes wrong, without secrets and without what people write. */
  readonly report: ReportProblem;
}

/** Chats of one vendor, each with a session. */
export interface ChatBridge {
  /** Continues the deliveries of the chats that are known. */
  start(): void;
  /** Resolves when the message is dealt with and its input durable. @throws AgentError for what may pass: then deliver it again */
  receive(message: ChatMessage): Promise<void>;
  /** Resolves with words for the person that pressed the button. */
  press(press: ChatPress): Promise<string>;
  /** Stops every delivery; sessions continue. The memory stays open. */
  close(): Promise<void>;
}

const idChars = 26;

/** Chats of one vendor, each with a session of a Loopwright server. */
export function createChatBridge(options: ChatBridgeOptions): ChatBridge {
  const { surface, memory, clock = systemClock, random = secureRandom, report, agent } = options;
  const newId = (): string => Array.from({ length: idChars }, () => "abcdefghijklmnopqrstuvwxyz234567"[Math.floor(random() * 32)]).join("");
  const closing = new AbortController();
  const places = placesIn(memory, surface.name);
  const people = linkedPeople({ surface: surface.name, memory, clock, allow: options.allow ?? {} });
  const clientOf = keptClients(options.clientFor);
  const approvals = approvalMessages({ surface, memory, newId });
  const turns = turnsOfPlaces();
  const followed = { surface, people, places, approvals, clock, report, settled: turns.settled };
  const followers = createFollowers({ ...followed, clientOf, signal: closing.signal });
  const replies = botReplies({ surface, clock, signal: closing.signal, report });
  const parts = { surface, people, places, clientOf, followers, newId, agent };

  const obey = async (message: ChatMessage, run: NonNullable<ReturnType<typeof commandOf>>): Promise<void> => {
    const seenKey = `seen:${surface.name}:${message.place}`;
    // A command that is delivered again, because the process ended before it was confirmed, is not obeyed twice.
    if (memory.read(seenKey) === message.key) return;
    const wasLinked = people.principalOf(message.person.id) !== undefined;
    const answer = await run(parts);
    memory.write(seenKey, message.key);
    if (wasLinked || people.principalOf(message.person.id)) await replies.toLinked(message, answer);
    else replies.toUnlinked(message, answer);
  };
  const leaveLost = ({ place }: ChatMessage, principal: ChatPrincipal | undefined, error: AgentError): void => {
    const record = places.get(place);
    const isClosed = isAgentError(error, "SESSION_CLOSED");
    if (!record || !principal || !(isClosed || isAgentError(error, "SESSION_NOT_FOUND"))) return;
    // What another person of a group may not see is there all the same.
    if (isClosed || isSamePrincipal(principal, record)) followers.leave(place);
    else places.change(place, record.session, { members: record.members.filter((user) => user !== principal.user) });
  };
  const take = async (message: ChatMessage): Promise<void> => {
    const run = commandOf(message);
    const principal = people.principalOf(message.person.id);
    try {
      if (run) await obey(message, run);
      else if (principal) await recordMessage(parts, message, principal);
      else replies.toUnlinked(message, words.unlinked(surface.commandSign));
    } catch (error) {
      // What meets a limit was tried a few times by the client.
      if (closing.signal.aborted || (isTransient(error) && !isLimit(error)) || !isAgentError(error)) throw error;
      report("A message of a chat was not taken.", error);
      leaveLost(message, principal, error);
      await replies.toLinked(message, isLimit(error) ? words.tooMany : words.refused(error.message));
    }
  };
  return {
    start() {
      for (const place of places.list(followersMax)) followers.follow(place);
    },
    receive: (message) => turns.run(message.place, () => take(message)),
    async press(press) {
      const principal = people.principalOf(press.person.id);
      return principal ? approvals.press(press, clientOf(principal)) : words.unlinked(surface.commandSign);
    },
    async close() {
      closing.abort();
      await followers.stop();
      await turns.ended();
      await replies.ended();
    },
  };
}

/** Runs what concerns one chat one after the other. */
function turnsOfPlaces(): {
  run<T>(place: string, task: () => Promise<T>): Promise<T>;
  settled(place: string): Promise<void>;
  ended(): Promise<void>;
} {
  const turns = new Map<string, Promise<void>>();
  const ignore = (): void => {};
  return {
    run(place, task) {
      const done = (turns.get(place) ?? Promise.resolve()).then(task);
      const settled = done.then(ignore, ignore).then(() => {
        if (turns.get(place) === settled) turns.delete(place);
      });
      turns.set(place, settled);
      return done;
    },
    settled: async (place) => turns.get(place),
    ended: async () => void (await Promise.all(turns.values())),
  };
}

/** One client for each user; the one that was made first is left out for a new one. */
function keptClients(clientFor: ChatBridgeOptions["clientFor"]): (principal: ChatPrincipal) => LoopwrightClient {
  const kept = new Map<string, LoopwrightClient>();
  return ({ user, scope }) => {
    const key = `${scope} ${user}`;
    const client = kept.get(key) ?? clientFor({ user, scope });
    kept.set(key, client);
    const [oldest] = kept.keys();
    if (kept.size > clientsMax && oldest !== undefined) kept.delete(oldest);
    return client;
  };
}
