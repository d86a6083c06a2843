import type { LoopwrightClient } from "@loopwright/client";
import { AgentError, isAgentError } from "@loopwright/core/protocol";
import { nameCharsMax } from "./chat-limits.ts";
import type { ChatMessage, ChatSurface } from "./chat-surface.ts";
import { words } from "./chat-words.ts";
import { type ChatPrincipal, isSamePrincipal } from "./linked-people.ts";
import type { PlaceRecord, Places } from "./places.ts";

interface RecordParts {
  readonly surface: ChatSurface;
  readonly places: Places;
  readonly clientOf: (principal: ChatPrincipal) => LoopwrightClient;
  readonly followers: { follow(place: string): void; leave(place: string): void };
  readonly newId: () => string;
  readonly agent: string | undefined;
}

/** Records a message as an input of the chat's session, which begins with the first one, as this user. @throws AgentError as the server refuses */
export async function recordMessage(parts: RecordParts, message: ChatMessage, principal: ChatPrincipal): Promise<void> {
  const { surface, places, clientOf, followers } = parts;
  const { place, person, isPrivate, key } = message;
  const { session } = await placeFor(parts, message, principal);
  const text = isPrivate ? message.text : `${nameOf(person.name)}: ${message.text}`;
  places.change(place, session, { sending: text });
  followers.follow(place);
  const { inputId } = await clientOf(principal).sessions.submit(session, text, { idempotencyKey: `${surface.name}-${key}` });
  if (inputId === undefined) places.change(place, session, { sending: undefined });
  else places.addOwn(place, session, inputId);
}

/** A chat whose session nothing was delivered of. */
export const beginningOf = (
  { isPrivate, person }: Pick<ChatMessage, "isPrivate" | "person">,
  { user, scope }: ChatPrincipal,
  session: string,
): PlaceRecord => ({
  ...{ user, scope, session, isBegun: false, cursor: "", own: [], members: [] },
  ...(isPrivate ? { person: person.id } : {}),
});

async function placeFor(parts: RecordParts, message: ChatMessage, principal: ChatPrincipal): Promise<PlaceRecord> {
  const { place, isPrivate } = message;
  const { surface, places, clientOf, followers, newId, agent } = parts;
  const known = places.get(place);
  // A private chat has one person, which was linked to another user since.
  if (known && isPrivate && !isSamePrincipal(principal, known)) followers.leave(place);
  const record = places.begin(place, beginningOf(message, principal, newId()));
  if (record.scope !== principal.scope) throw new AgentError("FORBIDDEN", { message: words.otherTeam });
  if (!record.isBegun) {
    const session = { id: record.session, metadata: { channel: surface.name }, ...(agent === undefined ? {} : { agent }) };
    await clientOf(record).sessions.create(session, { idempotencyKey: `begin-${record.session}` });
    places.change(place, record.session, { isBegun: true });
  }
  if (record.user !== principal.user && !record.members.includes(principal.user)) await shareWith(parts, { place, record }, principal.user);
  return record;
}

/** People of a group read what the bot writes there: the session is shared with a member that writes to it. */
async function shareWith(
  { places, clientOf, followers }: RecordParts,
  { place, record }: { readonly place: string; readonly record: PlaceRecord },
  user: string,
): Promise<void> {
  const { sessions } = clientOf(record);
  const { sharing } = await sessions.get(record.session).catch((error: unknown) => {
    // The session is gone for the user that opened it, and so for the chat.
    if (isAgentError(error, "SESSION_NOT_FOUND")) followers.leave(place);
    throw error;
  });
  if (sharing?.users?.[user] === undefined)
    await sessions.share(record.session, { ...sharing, users: { ...sharing?.users, [user]: "member" } });
  places.change(place, record.session, { members: [...record.members, user] });
}

/** A name on one line that cannot be taken for the end of one. */
const nameOf = (name: string): string =>
  name
    .replace(/[\s:]+/g, " ")
    .trim()
    .slice(0, nameCharsMax) || "A person";
