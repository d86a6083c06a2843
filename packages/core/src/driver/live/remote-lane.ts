import type { EphemeralEvent } from "../../loop/event.ts";
import type { ToolCallPart } from "../../message/content.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import type { EventHub, LaneRelay } from "./event-hub.ts";
import { createLaneSnapshot, type LaneSnapshot } from "./lane-snapshot.ts";

/** One lane of another node: holds its events until the opening event was published and nothing before them is missing. */
export class RemoteLane {
  /** Seq of the opening event. */
  readonly id: number;
  /** True while the missing events of the lane are fetched. */
  isHealing = false;
  #fold: LaneSnapshot | undefined;
  #relay: LaneRelay | undefined;
  #held: EphemeralEvent[] = [];
  #heldBytes = 0;

  /** Number of the last event that was published before the lane was closed here and opened again; 0 once the lane continues. */
  #publishedN: number;

  constructor(id: number, publishedN: number) {
    this.id = id;
    this.#publishedN = publishedN;
  }

  /** True if the opening event was published and the closing event was not. */
  get isOpen(): boolean {
    return this.#relay !== undefined;
  }

  /** Number of the last event without a gap before it; 0: none. */
  get n(): number {
    return this.#fold?.n ?? 0;
  }

  /** Number of the last event that was published, now or before. */
  get publishedN(): number {
    return Math.max(this.n, this.#publishedN);
  }

  /** True if the lane is open, and events before the held ones are missing. */
  get hasGap(): boolean {
    return this.isOpen && this.#held.length > 0;
  }

  /** `call`: the call of a tool's lane; `undefined` for the lane of an answer. */
  open(hub: EventHub, { runId, call }: { readonly runId: string; readonly call: ToolCallPart | undefined }): void {
    const fold = createLaneSnapshot(call);
    this.#fold = fold;
    this.#relay = hub.openRelay({ id: this.id, runId, isAnswer: call === undefined, snapshot: fold.snapshot });
    this.take(this.#held.splice(0));
  }

  close(): void {
    this.#relay?.close();
    this.#relay = this.#fold = undefined;
    this.#drop();
  }

  /** Publishes the events that come next, and holds those after a gap. */
  take(events: readonly EphemeralEvent[]): void {
    const fold = this.#fold;
    if (!fold) {
      this.#hold(events);
      return;
    }
    const next: EphemeralEvent[] = [];
    for (const event of events) {
      if (fold.take(event)) next.push(event);
      else if (event.n > fold.n) this.#hold([event]);
    }
    this.#takeHeld(next);
    this.#publish(next);
  }

  /** Publishes one snapshot in place of these events and the held ones, if they add anything. */
  heal(events: readonly EphemeralEvent[]): void {
    const fold = this.#fold;
    if (!fold) return;
    const before = fold.n;
    for (const event of events) fold.take(event);
    this.#takeHeld([]);
    if (fold.n > before) this.#publish([{ ...fold.snapshot(), lane: this.id, n: fold.n }]);
  }

  /** Events that were published before are not published again. The lane continues with a snapshot, because new listeners have none of its events. */
  #publish(events: readonly EphemeralEvent[]): void {
    const fold = this.#fold;
    if (this.#publishedN === 0) this.#relay?.publish(events);
    else if (fold && fold.n >= this.#publishedN) {
      this.#publishedN = 0;
      this.#relay?.publish([{ ...fold.snapshot(), lane: this.id, n: fold.n }]);
    }
  }

  /** Moves held events that come next now to `next`. */
  #takeHeld(next: EphemeralEvent[]): void {
    const fold = this.#fold;
    const [first] = this.#held;
    if (!fold || !first || first.n > fold.n + 1) return;
    const held = this.#held;
    this.#drop();
    for (const event of held) {
      if (fold.take(event)) next.push(event);
      else if (event.n > fold.n) this.#hold([event]);
    }
  }

  #hold(events: readonly EphemeralEvent[]): void {
    for (const event of events) {
      this.#held.push(event);
      this.#heldBytes += weightOf(event);
    }
    // The oldest events are dropped, because a snapshot can be joined with the newest.
    while (this.#held.length > driverLimits.heldEvents || this.#heldBytes > driverLimits.heldBytes) {
      const [dropped] = this.#held.splice(0, 1);
      if (!dropped) return;
      this.#heldBytes -= weightOf(dropped);
    }
  }

  #drop(): void {
    this.#held = [];
    this.#heldBytes = 0;
  }
}

function weightOf(event: EphemeralEvent): number {
  if ("delta" in event) return 64 + event.delta.length * 2;
  return event.type === "text_end" ? 64 + event.text.length * 2 : 128;
}
