import type { LoopwrightClient } from "@loopwright/client";
import { isAgentError } from "@loopwright/core/protocol";
import type { ChatMessage, ChatSurface } from "./chat-surface.ts";
import { words } from "./chat-words.ts";
import type { Followers } from "./followers.ts";
import { isTransient } from "./is-transient.ts";
import { type ChatPrincipal, isSamePrincipal, type LinkedPeople } from "./linked-people.ts";
import type { Places } from "./places.ts";

interface CommandParts {
  readonly surface: Pick<ChatSurface, "commandSign">;
  readonly people: LinkedPeople;
  readonly places: Places;
  readonly clientOf: (principal: ChatPrincipal) => LoopwrightClient;
  readonly followers: Pick<Followers, "show" | "leave">;
}

type Command = (parts: CommandParts, message: ChatMessage, rest: string) => string | Promise<string>;

const forLinked =
  (
    run: (parts: CommandParts, chat: ChatMessage & { readonly principal: ChatPrincipal }, rest: string) => string | Promise<string>,
  ): Command =>
  (parts, message, rest) => {
    const principal = parts.people.principalOf(message.person.id);
    return principal ? run(parts, { ...message, principal }, rest) : words.unlinked(parts.surface.commandSign);
  };

/** Leaves the session of a private chat whose person is not the user of it any more. */
function leaveOfOther({ people, places, followers }: CommandParts, { place, person, isPrivate }: ChatMessage): void {
  const record = places.get(place);
  if (isPrivate && record && !isSamePrincipal(people.principalOf(person.id), record)) followers.leave(place);
}

const commands: { readonly [name: string]: Command } = {
  start: forLinked(({ surface }) => words.help(surface.commandSign)),
  help: forLinked(({ surface }) => words.help(surface.commandSign)),
  link(parts, message, rest) {
    const { people, surface } = parts;
    const { person, isPrivate } = message;
    if (!isPrivate) return words.linkInPrivate;
    if (rest === "") return words.linkWithCode(surface.commandSign);
    const outcome = people.redeem(person.id, rest);
    if ("linked" in outcome) leaveOfOther(parts, message);
    if ("linked" in outcome) return words.linked(outcome.linked.user);
    return outcome.refused === "wrong" ? words.wrongCode : words.tooManyCodes;
  },
  unlink(parts, message) {
    if (!parts.people.unlink(message.person.id)) return words.neverLinked;
    leaveOfOther(parts, message);
    return words.unlinkedNow;
  },
  new: forLinked(({ followers }, { place }) => {
    followers.leave(place);
    return words.fresh;
  }),
  session: forLinked(({ places }, { place }) => {
    const record = places.get(place);
    return record ? words.session(record.session) : words.noSession;
  }),
  open: forLinked(async ({ surface, clientOf, followers }, { principal, ...message }, id) => {
    if (id === "") return words.openWithId(surface.commandSign);
    try {
      await clientOf(principal).sessions.get(id);
    } catch (error) {
      if (isTransient(error) || !isAgentError(error)) throw error;
      return words.notOpened;
    }
    followers.show(message, principal, id);
    return words.opened(id);
  }),
  stop: forLinked(async ({ places, clientOf }, { place, principal }) => {
    const record = places.get(place);
    const isStopping = record?.isBegun === true && (await clientOf(principal).sessions.abort(record.session, "stopped in the chat"));
    return isStopping ? words.stopping : words.nothingRuns;
  }),
};

/** What the message asks of the bot itself; `undefined` for a message to the agent. */
export function commandOf(message: ChatMessage): ((parts: CommandParts) => Promise<string>) | undefined {
  const [, name = "", rest = ""] = /^\/([a-z]+)(?:\s+([\s\S]*))?$/.exec(message.text.trim()) ?? [];
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  return command && (async (parts) => command(parts, message, rest.trim()));
}
