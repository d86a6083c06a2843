/*
 * Owns: the events of a session on their way into its chat.
 * Does not own: which message an event becomes (`deliver-event.ts`), what people send (the bridge).
 * Invariants
 *  F1 events are delivered in the order of the log, each before the next;
 *  F2 the place in the log is kept after each delivery: a restart continues there, and repeats at most the message that was being sent.
 */
import type { FollowedEvent, LoopwrightClient } from "@loopwright/client";
import { type Clock, encodeCursor, isAgentError } from "@loopwright/core/protocol";
import type { ApprovalMessages, AskingChat } from "./approval-messages.ts";
import type { ChatSurface } from "./chat-surface.ts";
import { deliver, type ReportProblem } from "./deliver.ts";
import { type DeliveringChat, deliverEvent, deliverSnapshot } from "./deliver-event.ts";
import { interimMessage } from "./interim-message.ts";
import type { Places } from "./places.ts";
import { streamedText } from "./streamed-text.ts";

/** What follows one chat's session. */
export interface Follower {
  readonly session: string;
  /** Resolves when nothing is delivered any more. */
  stop(): Promise<void>;
}

/** What followers share. */
export interface FollowParts {
  readonly surface: ChatSurface;
  readonly places: Places;
  readonly approvals: ApprovalMessages;
  readonly clock: Pick<Clock, "after">;
  readonly report: ReportProblem;
  /** Resolves when no message of the chat is just being recorded, so that its input is known as the chat's own. */
  readonly settled: (place: string) => Promise<void>;
}

/** A chat, and the session that it shows. */
interface FollowedChat {
  readonly place: string;
  readonly session: string;
  readonly client: LoopwrightClient;
  /** False once the chat is not to get the news any more. */
  readonly mayRead: () => boolean;
}

/** Delivers the session of a chat into it until it is stopped, the session is gone or the bot may not write there. `ended` is called then. */
export function followPlace(parts: FollowParts, { place, session, client, mayRead }: FollowedChat, ended: () => void): Follower {
  const { surface, places, clock, report } = parts;
  const leaving = new AbortController();
  const { signal } = leaving;
  const chat: AskingChat = { place, session, deliver: (send) => deliver({ clock, signal, report }, send) };
  let last: Promise<unknown> = Promise.resolve();
  /** One after the other: the message that an answer replaces is sent beside the events. */
  const inTurn = <T>(run: () => Promise<T>): Promise<T> => {
    const done = last.then(run);
    last = done.catch(() => {});
    return done;
  };
  const delivering: DeliveringChat = { ...parts, chat, interim: interimMessage({ surface, places, clock, place, session, inTurn }) };
  const streamed = streamedText();
  const take = async (event: FollowedEvent): Promise<void> => {
    if (event.type === "session_snapshot") places.change(place, session, { cursor: await deliverSnapshot(delivering, event.snapshot) });
    const text = streamed.take(event);
    if (text !== undefined) delivering.interim.stream(text);
    if (isDurable(event) && (await deliverEvent(delivering, event))) places.change(place, session, { cursor: encodeCursor(event) });
  };
  const run = async (): Promise<void> => {
    const after = places.get(place)?.cursor ?? "";
    for await (const batch of client.follow(session, { after, signal })) {
      for (const event of batch) {
        if (!mayRead()) return;
        await inTurn(() => take(event));
      }
      const newest = batch.findLast(isDurable);
      if (newest) places.change(place, session, { cursor: encodeCursor(newest) });
    }
  };
  const following = run()
    .catch((error: unknown) => {
      if (signal.aborted) return;
      if (isAgentError(error, "SESSION_NOT_FOUND") || isAgentError(error, "SESSION_CLOSED")) {
        if (places.get(place)?.session === session) places.forget(place);
      } else report("A chat does not get the news of its session any more.", error);
    })
    .finally(() => {
      delivering.interim.rest();
      ended();
    });
  return {
    session,
    async stop() {
      leaving.abort();
      await following;
    },
  };
}

const isDurable = (event: FollowedEvent): event is Extract<FollowedEvent, { readonly seq: number }> => "seq" in event && "k" in event;
