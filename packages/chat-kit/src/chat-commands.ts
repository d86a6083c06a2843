import type { LoopwrightClient } from "@loopwright/client";
import { isAgentError } from "@loopwright/core/protocol";
import type { ChatMessage } from "./chat-surface.ts";
import { words } from "./chat-words.ts";
import type { Followers } from "./followers.ts";
import { isTransient } from "./is-transient.ts";
import type { ChatPrincipal, LinkedPeople } from "./linked-people.ts";
import type { Places } from "./places.ts";

interface CommandParts {
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
    return principal ? run(parts, { ...message, principal }, rest) : words.unlinked;
  };

const commands: { readonly [name: string]: Command } = {
  start: forLinked(() => words.help),
  help: forLinked(() => words.help),
  link({ people }, { person, isPrivate }, rest) {
    if (!isPrivate) return words.linkInPrivate;
    if (rest === "") return words.linkWithCode;
    const outcome = people.redeem(person.id, rest);
    if ("linked" in outcome) return words.linked(outcome.linked.user);
    return outcome.refused === "wrong" ? words.wrongCode : words.tooManyCodes;
  },
  unlink: ({ people }, { person }) => (people.unlink(person.id) ? words.unlinkedNow : words.neverLinked),
  new: forLinked(({ followers }, { place }) => {
    followers.leave(place);
    return words.fresh;
  }),
  session: forLinked(({ places }, { place }) => {
    const record = places.get(place);
    return record ? words.session(record.session) : words.noSession;
  }),
  open: forLinked(async ({ clientOf, followers }, { place, principal }, id) => {
    if (id === "") return words.openWithId;
    try {
      await clientOf(principal).sessions.get(id);
    } catch (error) {
      if (isTransient(error) || !isAgentError(error)) throw error;
      return words.notOpened;
    }
    followers.show(place, principal, id);
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
