/*
 * Owns: the events that one client received, by the client rule: durable events once and in order, lanes by their numbers, a snapshot in place of
 * a lane. Does not own: the events that it should have received (the checker reads the log), what waits for the client (pending-calls).
 */
import type { DurableEvent, EphemeralEvent, EventCursor, SessionEvent } from "@loopwright/core";
import { createPendingCalls, type PendingCalls } from "./pending-calls.ts";
import { createReceivedLanes, type ReceivedLanes } from "./received-lanes.ts";

export class Recording {
  /** Violations of the client rule, as text. */
  readonly flaws: string[] = [];
  /** What waits for the client, from the events that it received. */
  readonly pending: PendingCalls = createPendingCalls();
  readonly #durable: DurableEvent[] = [];
  readonly #counts = new Map<SessionEvent["type"], number>();
  readonly #lanes: ReceivedLanes = createReceivedLanes((flaw) => void this.flaws.push(flaw));

  /** Every durable event so far, over all connections. */
  get durable(): readonly DurableEvent[] {
    return this.#durable;
  }

  get cursor(): EventCursor | undefined {
    const last = this.#durable.at(-1);
    return last && { seq: last.seq, k: last.k };
  }

  /** How many events of a type it received, ephemeral ones included. */
  countOf(type: SessionEvent["type"]): number {
    return this.#counts.get(type) ?? 0;
  }

  /** A new connection begins. */
  connect(): void {
    this.#lanes.connect();
  }

  take(events: readonly SessionEvent[]): void {
    for (const event of events) {
      this.#counts.set(event.type, this.countOf(event.type) + 1);
      if ("lane" in event) this.#takeEphemeral(event);
      else this.#takeDurable(event);
    }
  }

  #takeDurable(event: DurableEvent): void {
    const last = this.#durable.at(-1);
    if (last && (event.seq < last.seq || (event.seq === last.seq && event.k <= last.k))) {
      this.flaws.push(`was notified ${event.seq}.${event.k} ${event.type} after ${last.seq}.${last.k}`);
      return;
    }
    this.#durable.push(event);
    this.#lanes.durable(event);
    this.pending.take(event);
  }

  #takeEphemeral(event: EphemeralEvent): void {
    this.#lanes.ephemeral(event, this.#durable.at(-1)?.seq ?? 0);
  }
}
