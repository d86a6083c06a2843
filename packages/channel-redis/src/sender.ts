import type { Clock, Logger, Notification, SessionRef } from "@loopwright/core/ports";
import type { SessionEvent } from "@loopwright/core/protocol";
import { ErrorReply } from "@redis/client";
import { channelLimits } from "./channel-limits.ts";
import { encodeFrame } from "./frame.ts";
import { type Command, createLaneRings } from "./lane-rings.ts";
import { createOutbox, type ScopeBatch } from "./outbox.ts";
import type { Connection, RedisLink } from "./redis-link.ts";
import { topicName } from "./topic-name.ts";

export interface SenderOptions {
  readonly node: string;
  readonly prefix: string;
  readonly link: RedisLink;
  readonly outgoingBytes: number;
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Sends what this node says: everything of one turn of the event loop in one go, and the next only when that has arrived, so that whatever
 * piles up behind a slow Redis piles up where it is bounded. What a broken connection leaves in doubt is sent again; listeners know a frame
 * that they have heard, and rings are written in place.
 */
export interface Sender {
  publish(ref: SessionRef, events: readonly SessionEvent[]): void;
  notify(scope: string, notification: Notification): void;
  /** To be called when the link is up. */
  resume(): void;
  /** Resolves when all that was said until now is with Redis. */
  sent(): Promise<void>;
}

export function createSender({ node, prefix, link, outgoingBytes, deadlineMs, clock, logger }: SenderOptions): Sender {
  const outbox = createOutbox({
    limitBytes: outgoingBytes,
    onDrop: () => logger.log("warn", "The event channel dropped events that waited for Redis.", { limitBytes: outgoingBytes }),
  });
  const rings = createLaneRings({ prefix });
  /** By scope, the one spoken in longest ago first. */
  const spoken = new Map<string, number>();
  let lastId = 0;
  let inFlight: readonly Command[] | undefined;
  let isSending = false;
  let isScheduled = false;
  /** What was taken out of the outbox, in goes; and who waits for one to arrive. */
  let taken = 0;
  let waiters: { readonly go: number; readonly done: () => void }[] = [];

  function frameOf({ scope, lines }: ScopeBatch): Command {
    const frame = { node, id: ++lastId, previous: spoken.get(scope) ?? 0, lines };
    spoken.delete(scope);
    spoken.set(scope, frame.id);
    if (spoken.size > channelLimits.scopes) for (const [oldest] of spoken) if (spoken.delete(oldest)) break;
    return ["PUBLISH", topicName(prefix, scope), encodeFrame(frame)];
  }

  /** The ring before the word: who has heard of an event can recall it. */
  function commandsOf(batches: readonly ScopeBatch[]): readonly Command[] {
    const now = clock.monotonic();
    return batches.flatMap((batch) => [
      ...batch.lines.flatMap((line) =>
        "pieces" in line ? rings.write({ scope: batch.scope, session: line.session }, line.pieces, now) : [],
      ),
      frameOf(batch),
    ]);
  }

  function schedule(): void {
    if (isScheduled || isSending) return;
    isScheduled = true;
    clock.soon(() => {
      isScheduled = false;
      void send();
    });
  }

  async function send(): Promise<void> {
    if (isSending) return;
    link.open();
    if (!link.connection) return;
    isSending = true;
    while (link.connection && (inFlight || !outbox.isEmpty)) {
      inFlight ??= take();
      const verdict = await sendAll(link.connection, inFlight);
      if (verdict.type === "unknown") link.renew(verdict.cause);
      else arrived();
      if (verdict.type === "partly") {
        logger.log("warn", "Redis refused a part of what the event channel keeps.", { error: verdict.error });
        rings.forget();
      }
    }
    isSending = false;
  }

  function take(): readonly Command[] {
    taken++;
    return commandsOf(outbox.take());
  }

  function arrived(): void {
    inFlight = undefined;
    for (const { go, done } of waiters) if (go <= taken) done();
    waiters = waiters.filter(({ go }) => go > taken);
  }

  async function sendAll(connection: Connection, commands: readonly Command[]): Promise<Verdict> {
    const cancel = clock.after(deadlineMs, () => link.renew("timeout"), { idle: true });
    const answers = await Promise.allSettled(commands.map((command) => connection.sendCommand(command)));
    cancel();
    return verdictOf(commands, answers);
  }

  return {
    publish(ref, events) {
      if (events.length === 0) return;
      outbox.publish(ref, events);
      schedule();
    },
    notify(scope, notification) {
      outbox.notify(scope, notification);
      schedule();
    },
    resume: () => void send(),
    sent: () =>
      new Promise((done) => {
        const go = outbox.isEmpty ? taken : taken + 1;
        if (!inFlight && outbox.isEmpty) done();
        else waiters.push({ go, done });
      }),
  };
}

type Verdict =
  | { readonly type: "sent" }
  /** Redis refused to keep something, for good. */
  | { readonly type: "partly"; readonly error: string }
  /** Nobody knows, or this Redis cannot carry events at all. */
  | { readonly type: "unknown"; readonly cause: unknown };

function verdictOf(commands: readonly Command[], answers: readonly PromiseSettledResult<unknown>[]): Verdict {
  let refusal: string | undefined;
  for (const [index, answer] of answers.entries()) {
    if (answer.status === "fulfilled") continue;
    const word = refusalOf(answer.reason);
    const isFrame = commands[index]?.[0] === "PUBLISH";
    if (word === undefined || word === "READONLY" || isFrame) return { type: "unknown", cause: answer.reason };
    refusal = word;
  }
  return refusal === undefined ? { type: "sent" } : { type: "partly", error: refusal };
}

/** The first word of an answer of Redis that is an error; `undefined` for errors of the connection. */
function refusalOf(reason: unknown): string | undefined {
  return reason instanceof ErrorReply ? (/^[A-Z]+/.exec(reason.message)?.[0] ?? "ERR") : undefined;
}
