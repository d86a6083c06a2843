/*
 * Owns: what the bot writes itself in answer to a message.
 * Invariants
 *  A1 an answer that cannot be delivered does not hold back other chats; A2 a person without a link cannot have the bot write much.
 */
import type { Clock } from "@loopwright/core/protocol";
import { replyPatienceMs, unlinkedChatsMax, unlinkedPauseMs } from "./chat-limits.ts";
import type { ChatMessage, ChatSurface } from "./chat-surface.ts";
import { words } from "./chat-words.ts";
import { deliver, type ReportProblem } from "./deliver.ts";

interface ReplyParts {
  readonly surface: Pick<ChatSurface, "send">;
  readonly clock: Pick<Clock, "now" | "after">;
  readonly signal: AbortSignal;
  readonly report: ReportProblem;
}

/** Answers of the bot itself. */
export interface BotReplies {
  /** Resolves when the answer is delivered, or after some seconds: it is sent on then. */
  toLinked(message: ChatMessage, text: string): Promise<void>;
  /** Sends the same text once an hour in a chat; nothing waits for it. */
  toUnlinked(message: ChatMessage, text: string): void;
  /** Resolves when nothing is sent any more. */
  ended(): Promise<void>;
}

/** Answers of the bot itself, until the signal is aborted. */
export function botReplies({ surface, clock, signal, report }: ReplyParts): BotReplies {
  const open = new Set<Promise<void>>();
  const unlinked = new Map<string, Map<string, number>>();
  const send = (place: string, text: string): Promise<void> => {
    const sending = deliver({ clock, signal, report }, () => surface.send(place, text))
      .then(() => {})
      .catch((error: unknown) => {
        if (!signal.aborted) report("An answer of the bot itself could not be delivered.", error);
      })
      .finally(() => open.delete(sending));
    open.add(sending);
    return sending;
  };
  return {
    async toLinked({ place, isPrivate }, text) {
      if (isPrivate) unlinked.delete(place);
      let cancel = (): void => {};
      const patience = new Promise<void>((resolve) => {
        cancel = clock.after(replyPatienceMs, resolve);
      });
      await Promise.race([send(place, text), patience]);
      cancel();
    },
    toUnlinked({ place }, text) {
      const answered = unlinked.get(place) ?? new Map<string, number>();
      // Wrong codes are few: a person is to learn of each.
      if (text !== words.wrongCode && clock.now() - (answered.get(text) ?? -unlinkedPauseMs) < unlinkedPauseMs) return;
      unlinked.delete(place);
      unlinked.set(place, answered.set(text, clock.now()));
      const [oldest] = unlinked.keys();
      if (unlinked.size > unlinkedChatsMax && oldest !== undefined) unlinked.delete(oldest);
      void send(place, text);
    },
    ended: async () => void (await Promise.all(open)),
  };
}
