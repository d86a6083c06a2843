/*
 * Owns: words to the bot between Slack's delivery and the log of their session.
 * Invariants
 *  N1 words are kept in the memory before they are acknowledged: Slack waits for three seconds, and gives up after a few minutes;
 *  N2 words that are delivered again are taken once; N3 those of one place are taken in the order in which they came.
 */
import { type ChatMemory, isTransient, pause, type ReportProblem } from "@loopwright/chat-kit";
import type { Clock } from "@loopwright/core/protocol";
import type { SlackWords } from "./incoming.ts";
import { attemptsMax, pendingMax, takenMax, takePauseMaxMs, takePauseMs } from "./slack-limits.ts";

/** Words that are kept until the server has them. */
export interface Inbox {
  /** `full`: they are not kept, so that Slack is to deliver them again. */
  add(words: SlackWords): "kept" | "known" | "full";
  /** Takes what an earlier process has kept. */
  start(): void;
  /** Resolves when nothing is being taken. */
  ended(): Promise<void>;
}

interface InboxParts {
  readonly memory: ChatMemory;
  /** Of the bot: entries of others are left alone. */
  readonly bot: string;
  readonly clock: Pick<Clock, "after">;
  readonly signal: AbortSignal;
  readonly report: ReportProblem;
  /** Rejects with what may pass. */
  readonly take: (words: SlackWords) => Promise<void>;
}

interface Entry {
  /** Absent: they were taken. */
  readonly words?: SlackWords;
}

/** Words that wait for the server, in the memory of the channel. */
export function openInbox(parts: InboxParts): Inbox {
  const { memory, bot, signal } = parts;
  const prefix = `inbox:slack:${bot}:`;
  const places = new Map<string, Promise<void>>();
  let pending = 0;
  let taken = 0;
  const prune = (): void => {
    // The memory is this package's own: what it returns was written below.
    for (const [key, entry] of memory.list(prefix, 2 * takenMax + pendingMax).slice(takenMax))
      if ((entry as Entry).words === undefined) memory.take(key);
  };
  const run = (words: SlackWords): void => {
    pending++;
    const done = (places.get(words.place) ?? Promise.resolve())
      .then(() => takeSurely(parts, words))
      .then(
        () => {
          memory.write(prefix + words.key, {});
          taken++;
          if (taken % takenMax === 0) prune();
        },
        (error: unknown) => {
          if (!signal.aborted) parts.report("Words to the bot could not be taken. They are tried again at the next start.", error);
        },
      )
      .finally(() => {
        pending--;
        if (places.get(words.place) === done) places.delete(words.place);
      });
    places.set(words.place, done);
  };
  return {
    add(words) {
      if (memory.read(prefix + words.key) !== undefined) return "known";
      if (pending >= pendingMax) return "full";
      memory.write(prefix + words.key, { words });
      run(words);
      return "kept";
    },
    start() {
      for (const [, entry] of memory.list(prefix, takenMax + pendingMax).toReversed()) {
        const { words } = entry as Entry;
        if (words) run(words);
      }
    },
    ended: async () => void (await Promise.all(places.values())),
  };
}

async function takeSurely({ clock, signal, report, take }: InboxParts, words: SlackWords): Promise<void> {
  for (let failures = 0; ; failures++) {
    signal.throwIfAborted();
    try {
      return await take(words);
    } catch (error) {
      signal.throwIfAborted();
      if (!isTransient(error) && failures + 1 >= attemptsMax) return report("Words to the bot could not be taken and are left out.", error);
      if (failures === 0) report("Words to the bot could not be taken yet. They are tried again.", error);
      await pause(clock, Math.min(takePauseMaxMs, takePauseMs * 2 ** failures), signal);
    }
  }
}
