import { ownInputsMax } from "./chat-limits.ts";
import type { ChatMemory } from "./chat-memory.ts";
import type { ChatPrincipal } from "./linked-people.ts";

/** What is known of a chat: its session, and how far that was delivered. */
export interface PlaceRecord extends ChatPrincipal {
  readonly session: string;
  /** Of a private chat: news are for this person alone, while it is linked to the user. */
  readonly person?: string | undefined;
  /** False until the server has the session. */
  readonly isBegun: boolean;
  /** The last event that was delivered. Empty: none. */
  readonly cursor: string;
  /** Inputs that came from this chat, the newest last: they are not shown there again. */
  readonly own: readonly string[];
  /** The text of the input that is being sent, whose id is not known yet. */
  readonly sending?: string | undefined;
  /** The message that the answer will replace. */
  readonly interim?: string | undefined;
  /** Users that the session is shared with, beside the one that opened it. */
  readonly members: readonly string[];
}

/** The chats of one vendor, over restarts. */
export interface Places {
  get(place: string): PlaceRecord | undefined;
  /** The record that is there then: two that begin a chat at once get the same session. */
  begin(place: string, record: PlaceRecord): PlaceRecord;
  /** Changes fields of the record while the chat shows this session; nothing after that. */
  change(place: string, session: string, fields: Partial<PlaceRecord>): void;
  addOwn(place: string, session: string, inputId: string): void;
  forget(place: string): void;
  /** Those with the newest news first. */
  list(limit: number): readonly string[];
}

/** The chats of one vendor in a memory. */
export function placesIn(memory: ChatMemory, surface: string): Places {
  const prefix = `place:${surface}:`;
  // The memory is this package's own: what it returns was written below.
  const recordOf = (value: unknown): PlaceRecord | undefined => value as PlaceRecord | undefined;
  const get = (place: string): PlaceRecord | undefined => recordOf(memory.read(prefix + place));
  const change = (place: string, session: string, fields: Partial<PlaceRecord>): void => {
    const record = get(place);
    if (record?.session === session) memory.write(prefix + place, { ...record, ...fields });
  };
  return {
    get,
    change,
    begin: (place, record) => recordOf(memory.writeOnce(prefix + place, record)) ?? record,
    addOwn(place, session, inputId) {
      const own = [...(get(place)?.own ?? []).filter((id) => id !== inputId), inputId].slice(-ownInputsMax);
      change(place, session, { own, sending: undefined });
    },
    forget: (place) => void memory.take(prefix + place),
    list: (limit) => memory.list(prefix, limit).map(([key]) => key.slice(prefix.length)),
  };
}
