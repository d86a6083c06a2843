import type { LoopwrightClient } from "@loopwright/client";
import { followersMax } from "./chat-limits.ts";
import type { ChatMessage } from "./chat-surface.ts";
import { type Follower, type FollowParts, followPlace } from "./follow-place.ts";
import { type ChatPrincipal, isSamePrincipal, type LinkedPeople } from "./linked-people.ts";
import type { PlaceRecord } from "./places.ts";
import { beginningOf } from "./record-message.ts";

/** Which chats get the news of their sessions. */
export interface Followers {
  /** Begins to deliver the session of a chat, if it has one. */
  follow(place: string): void;
  /** Leaves the session of a chat: its next message begins a new one. */
  leave(place: string): void;
  /** Has a chat show another session of this user, from its beginning. */
  show(message: ChatMessage, principal: ChatPrincipal, session: string): void;
  stop(): Promise<void>;
}

interface FollowersParts extends FollowParts {
  readonly people: Pick<LinkedPeople, "principalOf">;
  readonly clientOf: (principal: ChatPrincipal) => LoopwrightClient;
  /** Aborted: nothing is followed any more. */
  readonly signal: AbortSignal;
}

/** The followers of the chats of one vendor. Of too many the one without a message for the longest ends; the next message brings it back. */
export function createFollowers({ people, clientOf, signal, ...parts }: FollowersParts): Followers {
  const { places } = parts;
  const followers = new Map<string, Follower>();
  const end = (place: string): void => {
    void followers.get(place)?.stop();
    followers.delete(place);
  };
  /** A person of a private chat that lost its link gets no more news of the user. */
  const mayRead = ({ person, user, scope }: PlaceRecord): boolean =>
    person === undefined || isSamePrincipal(people.principalOf(person), { user, scope });
  const follow = (place: string): void => {
    const record = places.get(place);
    if (signal.aborted || !record?.isBegun || !mayRead(record)) return;
    const known = followers.get(place);
    const isKnown = known?.session === record.session;
    const follower = isKnown
      ? known
      : followPlace(parts, { place, session: record.session, client: clientOf(record), mayRead: () => mayRead(record) }, () => {
          if (followers.get(place) === follower) followers.delete(place);
        });
    if (!isKnown) end(place);
    followers.delete(place);
    followers.set(place, follower);
    const [oldest] = followers.keys();
    if (followers.size > followersMax && oldest !== undefined) end(oldest);
  };
  const leave = (place: string): void => {
    end(place);
    places.forget(place);
  };
  return {
    follow,
    leave,
    show(message, principal, session) {
      const { place } = message;
      leave(place);
      places.begin(place, { ...beginningOf(message, principal, session), isBegun: true });
      follow(place);
    },
    stop: async () => void (await Promise.all([...followers.values()].map((follower) => follower.stop()))),
  };
}
