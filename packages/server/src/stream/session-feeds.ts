import type { AgentSession } from "@loopwright/core";
import type { SessionHost } from "@loopwright/host";
import { createSessionFeed, type FeedParts, type SessionFeed } from "./session-feed.ts";

/** The feeds of all sessions that are loaded in this process. */
export interface SessionFeeds {
  /** The feed of a session. An evicted session keeps the feed that it had. */
  of(hosted: { readonly session: AgentSession }): SessionFeed;
}

/** A session gets its feed when it is loaded, so that the feed also has the events from before its first reader. */
export function createSessionFeeds(host: Pick<SessionHost, "onLoad">, parts: Omit<FeedParts, "ref" | "session" | "use">): SessionFeeds {
  const feeds = new WeakMap<AgentSession, SessionFeed>();
  host.onLoad((loaded) => {
    const feed = createSessionFeed({ ...parts, ...loaded });
    feeds.set(loaded.session, feed);
    loaded.onGone(() => feed.close());
  });
  return {
    of({ session }) {
      const feed = feeds.get(session);
      if (!feed) throw new Error(`The session \`${session.id}\` was not loaded by this host.`);
      return feed;
    },
  };
}
