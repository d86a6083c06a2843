import { startDeadline } from "@loopwright/core/memory";
import type { Clock, Logger, Notification, SessionRef } from "@loopwright/core/ports";
import type { SessionEvent } from "@loopwright/core/protocol";
import { ErrorReply } from "@redis/client";
import { channelLimits } from "./channel-limits.ts";
import { encodeFrame } from "./frame.ts";
import { type Command, createLaneRings, type LaneRings } from "./lane-rings.ts";
import { createOutbox, type Outbox, type ScopeBatch } from "./outbox.ts";
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
 * Sends the events of this node: everything of one turn of the event loop at once, and the next only when that has arrived, so that whatever
 * queues behind a slow Redis queues where it is bounded. What a broken connection leaves in doubt is sent again; listeners recognise a frame
 * that they have received, and rings are written in place.
 */
export interface Sender {
  publish(ref: SessionRef, events: readonly SessionEvent[]): void;
  notify(scope: string, notification: Notification): void;
  /** To be called when the link is up. */
  resume(): void;
  /** Resolves when Redis has everything published until now. */
  sent(): Promise<void>;
}

export function createSender(options: SenderOptions): Sender {
  return new RedisSender(options);
}

class RedisSender implements Sender {
  readonly #options: SenderOptions;
  readonly #outbox: Outbox;
  readonly #rings: LaneRings;
  /** By scope, the one spoken in longest ago first. */
  readonly #spoken = new Map<string, number>();
  #lastId = 0;
  #inFlight: readonly Command[] | undefined;
  #isSending = false;
  #isScheduled = false;
  /** Redis has refused something of the last go. */
  #isRefused = false;
  /** Batches taken out of the outbox, and the callers that wait for one to arrive. */
  #taken = 0;
  #waiters: { readonly go: number; readonly done: () => void }[] = [];

  constructor(options: SenderOptions) {
    this.#options = options;
    const { outgoingBytes: limitBytes, logger, prefix } = options;
    const onDrop = (): void => logger.log("warn", "The event channel dropped events that waited for Redis.", { limitBytes });
    this.#outbox = createOutbox({ limitBytes, onDrop });
    this.#rings = createLaneRings({ prefix });
  }

  publish(ref: SessionRef, events: readonly SessionEvent[]): void {
    if (events.length === 0) return;
    this.#outbox.publish(ref, events);
    this.#schedule();
  }

  notify(scope: string, notification: Notification): void {
    this.#outbox.notify(scope, notification);
    this.#schedule();
  }

  resume(): void {
    void this.#send();
  }

  sent(): Promise<void> {
    if (!this.#inFlight && this.#outbox.isEmpty) return Promise.resolve();
    const go = this.#outbox.isEmpty ? this.#taken : this.#taken + 1;
    return new Promise((done) => this.#waiters.push({ go, done }));
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isSending) return;
    this.#isScheduled = true;
    this.#options.clock.soon(() => {
      this.#isScheduled = false;
      void this.#send();
    });
  }

  async #send(): Promise<void> {
    const { link, logger } = this.#options;
    if (this.#isSending) return;
    link.open();
    if (!link.connection) return;
    this.#isSending = true;
    while (link.connection && (this.#inFlight || !this.#outbox.isEmpty)) {
      this.#inFlight ??= this.#take();
      const verdict = await this.#sendAll(link.connection, this.#inFlight);
      if (verdict.type === "unknown") link.renew(verdict.cause);
      else this.#arrived();
      if (verdict.type === "partly") {
        if (!this.#isRefused)
          logger.log("warn", "Redis refuses to keep a part of the events for readers that join later.", { error: verdict.error });
        this.#rings.forget();
      }
      this.#isRefused = verdict.type === "partly";
    }
    this.#isSending = false;
    if (link.connection) link.proved();
  }

  /** The ring is written before the frame is published: a listener that received an event can recall it. */
  #take(): readonly Command[] {
    this.#taken++;
    const now = this.#options.clock.monotonic();
    return this.#outbox.take().flatMap((batch) => {
      const { scope, lines } = batch;
      const kept = lines.flatMap((line) => ("pieces" in line ? this.#rings.write({ scope, session: line.session }, line.pieces, now) : []));
      return [...kept, this.#frameOf(batch)];
    });
  }

  #frameOf({ scope, lines }: ScopeBatch): Command {
    const { node, prefix } = this.#options;
    const frame = { node, id: ++this.#lastId, previous: this.#spoken.get(scope) ?? 0, lines };
    this.#spoken.delete(scope);
    this.#spoken.set(scope, frame.id);
    if (this.#spoken.size > channelLimits.scopes) for (const [oldest] of this.#spoken) if (this.#spoken.delete(oldest)) break;
    return ["PUBLISH", topicName(prefix, scope), encodeFrame(frame)];
  }

  async #sendAll(connection: Connection, commands: readonly Command[]): Promise<Verdict> {
    const { clock, deadlineMs, link } = this.#options;
    const cancel = startDeadline(clock, { ms: deadlineMs, idle: true }, () => link.renew("timeout"));
    const answers = await Promise.allSettled(commands.map((command) => connection.sendCommand(command)));
    cancel();
    return verdictOf(commands, answers);
  }

  #arrived(): void {
    this.#inFlight = undefined;
    for (const { go, done } of this.#waiters) if (go <= this.#taken) done();
    this.#waiters = this.#waiters.filter(({ go }) => go > this.#taken);
  }
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
