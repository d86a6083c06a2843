/*
 * Owns: messages to the bot between Slack and the server, which has a message when it is in the log of its session.
 * Invariants
 *  N1 a message is kept in the memory before it is acknowledged: Slack waits for three seconds, and gives up after a few minutes;
 *  N2 a redelivered message is delivered once while its key is kept; N3 the messages of one place are delivered in the order in which they came.
 */
import { type ChatMemory, isTransient, pause, type ReportProblem } from "@loopwright/chat-kit";
import type { Clock } from "@loopwright/core/protocol";
import type { SlackWords } from "./incoming.ts";
import { attemptsMax, deliverPauseMaxMs, deliverPauseMs, pendingMax, settledMax } from "./slack-limits.ts";

/** Messages that are kept until the server has them. */
export interface Inbox {
  /** `full`: the message is not kept, and Slack has to send it again. */
  add(message: SlackWords): "kept" | "known" | "full";
  /** Delivers what an earlier process has kept. */
  start(): void;
  /** Resolves when no message is being delivered. */
  ended(): Promise<void>;
}

interface InboxParts {
  readonly memory: ChatMemory;
  /** The id of the bot: entries of others are left alone. */
  readonly bot: string;
  readonly clock: Pick<Clock, "after">;
  readonly signal: AbortSignal;
  readonly report: ReportProblem;
  /** Rejects if the server did not take the message: it is tried again, without end after a transient failure, otherwise until `attemptsMax`. */
  readonly deliver: (message: SlackWords) => Promise<void>;
}

interface Entry {
  /** The message; absent after it was delivered, or dropped after `attemptsMax` attempts. */
  readonly words?: SlackWords;
}

/** Messages that wait for the server, in the memory of the channel. */
export function openInbox(parts: InboxParts): Inbox {
  const { memory, bot, signal } = parts;
  const prefix = `inbox:slack:${bot}:`;
  const places = new Map<string, Promise<void>>();
  let pending = 0;
  let settled = 0;
  const prune = (): void => {
    // The memory is this package's own: what it returns was written below.
    for (const [key, entry] of memory.list(prefix, Number.MAX_SAFE_INTEGER).slice(settledMax))
      if ((entry as Entry).words === undefined) memory.take(key);
  };
  const run = (message: SlackWords): void => {
    pending++;
    const done = (places.get(message.place) ?? Promise.resolve())
      .then(() => deliverSurely(parts, message))
      .then(
        () => {
          memory.write(prefix + message.key, {});
          settled++;
          if (settled % settledMax === 0) prune();
        },
        (error: unknown) => {
          if (!signal.aborted)
            parts.report("A Slack message could not be delivered to the server. It is tried again at the next start.", error);
        },
      )
      .finally(() => {
        pending--;
        if (places.get(message.place) === done) places.delete(message.place);
      });
    places.set(message.place, done);
  };
  return {
    add(message) {
      if (memory.read(prefix + message.key) !== undefined) return "known";
      if (pending >= pendingMax) return "full";
      memory.write(prefix + message.key, { words: message });
      run(message);
      return "kept";
    },
    start() {
      for (const [, entry] of memory.list(prefix, Number.MAX_SAFE_INTEGER).toReversed()) {
        const { words } = entry as Entry;
        if (words) run(words);
      }
    },
    ended: async () => void (await Promise.all(places.values())),
  };
}

async function deliverSurely({ clock, signal, report, deliver }: InboxParts, message: SlackWords): Promise<void> {
  for (let failures = 0; ; failures++) {
    signal.throwIfAborted();
    try {
      return await deliver(message);
    } catch (error) {
      signal.throwIfAborted();
      if (!isTransient(error) && failures + 1 >= attemptsMax)
        return report("A Slack message could not be delivered to the server and was dropped.", error);
      if (failures === 0) report("A Slack message could not be delivered to the server yet. It is tried again.", error);
      await pause(clock, Math.min(deliverPauseMaxMs, deliverPauseMs * 2 ** failures), signal);
    }
  }
}
