import { AgentError } from "@loopwright/core";
import type { Clock, IdSource } from "@loopwright/core/ports";
import type { HttpLimits } from "../server-limits.ts";
import type { Principal } from "../server-options.ts";
import type { EventSink } from "./event-sink.ts";
import { pingFrame } from "./frames.ts";
import type { StreamPlace, StreamRegistry } from "./stream-registry.ts";

export function createStreamRegistry(limits: HttpLimits, parts: { readonly clock: Clock; readonly ids: IdSource }): StreamRegistry {
  return new OpenStreams(limits, parts);
}

class OpenStreams implements StreamRegistry {
  readonly #limits: HttpLimits;
  readonly #clock: Clock;
  readonly #ids: IdSource;
  /** Slots taken, by principal and by scope. */
  readonly #counts = new Map<string, number>();
  /** The time at which each stream reaches its maximum age. */
  readonly #sinks = new Map<EventSink, number>();
  #total = 0;
  #isClosed = false;
  #cancelPing: (() => void) | undefined;

  constructor(limits: HttpLimits, { clock, ids }: { readonly clock: Clock; readonly ids: IdSource }) {
    this.#limits = limits;
    this.#clock = clock;
    this.#ids = ids;
  }

  get open(): number {
    return this.#total;
  }

  get longestQueueBytes(): number {
    let bytes = 0;
    for (const sink of this.#sinks.keys()) bytes = Math.max(bytes, sink.queuedBytes);
    return bytes;
  }

  take({ scope, user }: Principal): StreamPlace {
    if (this.#isClosed) throw new AgentError("NOT_READY", { message: "The server is shutting down.", retryAfterMs: 2_000 });
    const [own, all] = [`${scope}/${user}`, scope];
    check(this.#counts.get(own) ?? 0, this.#limits.streamsPerPrincipal, "of this caller");
    check(this.#counts.get(all) ?? 0, this.#limits.streamsPerScope, "of this scope");
    check(this.#total, this.#limits.streams, "of this server");
    this.#count([own, all], 1);
    let isTaken = true;
    const release = (): void => {
      if (!isTaken) return;
      isTaken = false;
      this.#count([own, all], -1);
    };
    return { release, hold: (sink) => this.#hold(sink, release) };
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelPing?.();
    for (const sink of [...this.#sinks.keys()]) sink.end();
  }

  #count(keys: readonly string[], by: 1 | -1): void {
    this.#total += by;
    for (const key of keys) {
      const count = (this.#counts.get(key) ?? 0) + by;
      if (count > 0) this.#counts.set(key, count);
      else this.#counts.delete(key);
    }
  }

  #hold(sink: EventSink, release: () => void): void {
    if (this.#isClosed) {
      sink.onClose(release);
      sink.end();
      return;
    }
    // Random, so that streams that began together do not all end, and reconnect, together.
    this.#sinks.set(sink, this.#clock.now() + this.#limits.streamAgeMs * (0.8 + 0.4 * this.#ids.random()));
    sink.onClose(() => {
      this.#sinks.delete(sink);
      release();
    });
    this.#planPing();
  }

  /** One timer serves all streams. */
  #planPing(): void {
    if (this.#sinks.size === 0 || this.#isClosed) return;
    this.#cancelPing ??= this.#clock.after(this.#limits.pingMs, () => this.#ping(), { idle: true });
  }

  #ping(): void {
    this.#cancelPing = undefined;
    const now = this.#clock.now();
    for (const [sink, endsAt] of this.#sinks) {
      if (now >= endsAt) sink.end();
      else if (sink.queuedBytes === 0) sink.write(pingFrame);
    }
    this.#planPing();
  }
}

const retryAfterMs = 10_000;

function check(count: number, most: number, whose: string): void {
  if (count < most) return;
  throw new AgentError("CONNECTION_LIMIT", { message: `${most} event streams ${whose} are open already.`, retryAfterMs });
}
