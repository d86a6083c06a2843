import { AgentError } from "@loopwright/core";
import type { Clock } from "@loopwright/core/ports";
import type { HttpLimits } from "../server-limits.ts";
import type { Principal } from "../server-options.ts";
import { watchRight } from "./end-stream-without-right.ts";
import type { EventSink } from "./event-sink.ts";
import { createStreamKeepAlive, type KeepAliveParts, type StreamKeepAlive } from "./stream-keep-alive.ts";
import type { StreamPlace, StreamRegistry, StreamRight } from "./stream-registry.ts";

export function createStreamRegistry(limits: HttpLimits, parts: KeepAliveParts): StreamRegistry {
  return new OpenStreams(limits, parts);
}

class OpenStreams implements StreamRegistry {
  readonly #limits: HttpLimits;
  readonly #alive: StreamKeepAlive;
  readonly #clock: Clock;
  /** Slots taken, by principal and by scope. */
  readonly #counts = new Map<string, number>();
  #total = 0;
  #isClosed = false;

  constructor(limits: HttpLimits, parts: KeepAliveParts) {
    this.#limits = limits;
    this.#clock = parts.clock;
    this.#alive = createStreamKeepAlive(limits, parts);
  }

  get open(): number {
    return this.#total;
  }

  get longestQueueBytes(): number {
    return this.#alive.longestQueueBytes;
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
    return { release, hold: (sink, right) => this.#hold(sink, release, right) };
  }

  close(): void {
    this.#isClosed = true;
    this.#alive.close();
  }

  #count(keys: readonly string[], by: 1 | -1): void {
    this.#total += by;
    for (const key of keys) {
      const count = (this.#counts.get(key) ?? 0) + by;
      if (count > 0) this.#counts.set(key, count);
      else this.#counts.delete(key);
    }
  }

  #hold(sink: EventSink, release: () => void, right: StreamRight | undefined): void {
    sink.onClose(release);
    if (this.#isClosed) {
      sink.end();
      return;
    }
    this.#alive.keep(sink);
    if (right) watchRight(sink, right, { clock: this.#clock, checkMs: this.#limits.streamCheckMs });
  }
}

const retryAfterMs = 10_000;

function check(count: number, most: number, whose: string): void {
  if (count < most) return;
  throw new AgentError("CONNECTION_LIMIT", { message: `${most} event streams ${whose} are open already.`, retryAfterMs });
}
