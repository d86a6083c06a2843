import type { Message, MessageId } from "@loopwright/core";
import { callsOf } from "@loopwright/core";
import type { ContextHistory } from "@loopwright/core/ports";

/** The share of the room that the newest messages keep. */
const tailShare = 0.4;
/** The share of the room that pinned messages may have; the newest are kept. */
const pinnedShare = 0.25;

/** A stretch of the history that a summary can replace. */
export interface Stretch {
  readonly from: MessageId;
  readonly to: MessageId;
  readonly messages: readonly Message[];
  /** Its size as it is sent. */
  readonly units: number;
  readonly pinned: readonly MessageId[];
  readonly pinnedUnits: number;
}

export interface StretchOptions {
  /** Sizes of the messages as they are sent, by place. */
  readonly units: readonly number[];
  /** For all messages. */
  readonly room: number;
  readonly pin: (message: Message) => boolean;
}

/**
 * The older part of the history: all after the first user message, which has the goal, up to the newest messages. It parts no call from its result.
 * The last user message is pinned. `undefined`: there is no such part.
 */
export function stretchOf({ messages, ids }: ContextHistory, options: StretchOptions): Stretch | undefined {
  const { units } = options;
  const start = messages.findIndex(({ role }) => role === "user") + 1;
  const end = tailStart(messages, start, options);
  let [first, last] = [start, end - 1];
  while (first < end && ids[first] === undefined) first++;
  while (last >= first && ids[last] === undefined) last--;
  const [from, to] = [ids[first], ids[last]];
  if (from === undefined || to === undefined || last - first < 1) return undefined;
  const stretch = { messages, ids, first, last };
  const pinned = pinnedIn(stretch, options);
  return {
    from,
    to,
    messages: messages.slice(first, last + 1),
    units: sum(units, first, last + 1),
    pinned: pinned.map((place) => ids[place] as MessageId),
    pinnedUnits: pinned.reduce((all, place) => all + (units[place] ?? 0), 0),
  };
}

/** Where the newest messages begin: at a message that is no result. The last message with its results is always among them. */
function tailStart(messages: readonly Message[], start: number, { units, room }: StretchOptions): number {
  let left = room * tailShare;
  let at = messages.length;
  while (at > start && (units[at - 1] ?? 0) <= left) left -= units[--at] ?? 0;
  while (messages[at]?.role === "tool_result") at++;
  if (at < messages.length) return at;
  at = messages.length - 1;
  while (at > start && messages[at]?.role === "tool_result") at--;
  return Math.max(at, start);
}

interface Places extends ContextHistory {
  readonly first: number;
  readonly last: number;
}

/** Calls and results are not pinned: they would be parted. Neither are notices: summaries are notices. */
function pinnedIn({ messages, ids, first, last }: Places, { units, room, pin }: StretchOptions): readonly number[] {
  let newest = messages.length - 1;
  while (newest > last && messages[newest]?.role !== "user") newest--;
  if (newest === last) while (newest >= first && messages[newest]?.role !== "user") newest--;
  let left = room * pinnedShare;
  const pinned: number[] = [];
  for (let place = last; place >= first; place--) {
    const message = messages[place] as Message;
    const size = units[place] ?? 0;
    if (ids[place] === undefined || !(place === newest || (canPin(message) && pin(message)))) continue;
    if (place !== newest && size > left) continue;
    left -= size;
    pinned.unshift(place);
  }
  return pinned;
}

const canPin = (message: Message): boolean => message.role === "user" || (message.role === "assistant" && callsOf(message).length === 0);

function sum(units: readonly number[], from: number, to: number): number {
  let all = 0;
  for (let at = from; at < to; at++) all += units[at] ?? 0;
  return all;
}
