import type { AgentError } from "@loopwright/core";
import { startDeadline, systemClock } from "@loopwright/core/memory";
import { ClientClosedError, ClientOfflineError, ErrorReply, RESP_TYPES } from "@redis/client";
import { type Client, type ClientFactory, dispose } from "./client-factory.ts";
import { faultOf, isOfConnection, type Refusal, refusalOf, unavailable } from "./redis-fault.ts";

/**
 * What became of a command.
 * - `replied`: done, with this answer.
 * - `refused`: Redis answered that it did not do it.
 * - `unsent`: it was never sent.
 * - `uncertain`: it was sent, and no answer came in time or the connection ended.
 */
export type Outcome =
  | { readonly type: "replied"; readonly reply: unknown }
  | { readonly type: "refused"; readonly refusal: Refusal }
  | { readonly type: "unsent"; readonly error: AgentError }
  | { readonly type: "uncertain"; readonly error: AgentError };

export interface AskOptions {
  /** More time than the store's own deadline, for large values. */
  readonly extraMs?: number;
  /** Strings come as bytes. */
  readonly isBinary?: boolean;
}

export type Word = string | Buffer;

/** Backoff after a failed attempt: full jitter between 0 and base x 2^failures, at most the cap. */
const backoff = { baseMs: 50, capMs: 1_000 } as const;
const binary = { [RESP_TYPES.BLOB_STRING]: Buffer } as const;

/**
 * Owns: the one connection that commands go over. Made at the first command, and again at the first after it was lost.
 * I1: a command is sent at most once. I2: every outcome comes within the deadline. I3: nothing waits for a server that was just found away.
 * I4: a connection on which a deadline passed in silence is given up, so that nothing old is executed after a long pause.
 */
export class Connection {
  readonly #factory: ClientFactory;
  readonly #deadlineMs: number;
  #client: Client | undefined;
  #attempt: Promise<void> | undefined;
  #failure: AgentError | undefined;
  #failures = 0;
  #retryAt = 0;
  #receivedAt = 0;
  #pending = 0;
  #isClosed = false;
  #idle: (() => void) | undefined;

  constructor(factory: ClientFactory, deadlineMs: number) {
    this.#factory = factory;
    this.#deadlineMs = deadlineMs;
  }

  get where(): string {
    return this.#factory.where;
  }

  /** Never rejects. */
  ask(words: readonly Word[], options: AskOptions = {}): Promise<Outcome> {
    const deadlineMs = this.#deadlineMs + (options.extraMs ?? 0);
    if (this.#client) return this.#send(this.#client, words, { options, deadlineMs });
    if (this.#isClosed) return Promise.resolve(this.#unsent(unavailable(this.where, "is not used any more: the store was closed")));
    return this.#sendLater(words, options, deadlineMs);
  }

  /** The answer. @throws AgentError when there is none, or it is a refusal. */
  async answer(words: readonly Word[], options?: AskOptions): Promise<unknown> {
    return this.answerOf(await this.ask(words, options));
  }

  /** What an outcome holds. @throws AgentError when it is no answer. */
  answerOf(outcome: Outcome): unknown {
    if (outcome.type === "replied") return outcome.reply;
    throw outcome.type === "refused" ? faultOf(outcome.refusal, this.where) : outcome.error;
  }

  /** Waits for what is on its way, then ends. Twice is once. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#pending > 0)
      await new Promise<void>((resolve) => {
        const before = this.#idle;
        this.#idle = () => {
          before?.();
          resolve();
        };
      });
    if (this.#client) this.#lose(this.#client);
  }

  async #sendLater(words: readonly Word[], options: AskOptions, deadlineMs: number): Promise<Outcome> {
    const askedAt = performance.now();
    if (!this.#attempt && askedAt < this.#retryAt) return this.#unsent(this.#failure);
    // Counted while it waits: closing waits for it too.
    this.#pending++;
    this.#attempt ??= this.#connect();
    await this.#attempt;
    const client = this.#client;
    const leftMs = deadlineMs - (performance.now() - askedAt);
    const outcome = client && leftMs > 0 ? this.#send(client, words, { options, deadlineMs: leftMs }) : this.#unsent(this.#failure);
    this.#finish(client);
    return outcome;
  }

  #unsent(error: AgentError | undefined): Outcome {
    return { type: "unsent", error: error ?? unavailable(this.where, "cannot be reached") };
  }

  /** Never rejects; lasts no longer than the deadline. */
  async #connect(): Promise<void> {
    const client = this.#factory.make();
    client.on("error", () => this.#lose(client));
    client.on("end", () => this.#lose(client));
    try {
      await this.#factory.open(client, this.#deadlineMs);
      if (!client.isReady) throw unavailable(this.where, "ended the connection");
      this.#client = client;
      this.#failures = 0;
      this.#failure = undefined;
    } catch (error) {
      this.#failure = error instanceof Error ? this.#factory.faultOf(error) : unavailable(this.where, "cannot be reached");
      this.#retryAt = performance.now() + Math.random() * Math.min(backoff.capMs, backoff.baseMs * 2 ** this.#failures++);
      dispose(client);
    } finally {
      this.#attempt = undefined;
    }
  }

  #send(client: Client, words: readonly Word[], how: { readonly options: AskOptions; readonly deadlineMs: number }): Promise<Outcome> {
    return new Promise((resolve) => {
      const sentAt = performance.now();
      let isSettled = false;
      const settle = (outcome: Outcome): void => {
        if (isSettled) return;
        isSettled = true;
        cancel();
        resolve(outcome);
        this.#finish(client);
      };
      const cancel = startDeadline(systemClock, { ms: how.deadlineMs }, () => {
        settle({ type: "uncertain", error: unavailable(this.where, `did not answer within ${Math.round(how.deadlineMs)} ms`) });
        if (this.#receivedAt < sentAt) this.#lose(client);
      });
      if (this.#pending++ === 0) client.ref();
      client.sendCommand([...words], how.options.isBinary ? { typeMapping: binary } : undefined).then(
        (reply: unknown) => {
          this.#receivedAt = performance.now();
          settle({ type: "replied", reply });
        },
        (error: unknown) => settle(this.#failed(client, error)),
      );
    });
  }

  #failed(client: Client, error: unknown): Outcome {
    if (error instanceof ErrorReply) {
      this.#receivedAt = performance.now();
      const refusal = refusalOf(error);
      if (isOfConnection(refusal)) this.#lose(client);
      return { type: "refused", refusal };
    }
    if (error instanceof ClientOfflineError || error instanceof ClientClosedError)
      return this.#unsent(unavailable(this.where, "ended the connection"));
    return { type: "uncertain", error: unavailable(this.where, "ended the connection before it answered") };
  }

  /** A process ends when nothing but an idle store is left of it. */
  #finish(client: Client | undefined): void {
    if (--this.#pending > 0) return;
    if (client?.isReady) client.unref();
    this.#idle?.();
    this.#idle = undefined;
  }

  #lose(client: Client): void {
    if (this.#client === client) this.#client = undefined;
    dispose(client);
  }
}
