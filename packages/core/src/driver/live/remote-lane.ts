import type { EphemeralEvent } from "../../loop/event.ts";
import type { ToolCallPart } from "../../message/content.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import type { EventHub, LaneRelay } from "./event-hub.ts";
import { createLaneSnapshot, type LaneSnapshot } from "./lane-snapshot.ts";

/** One lane of another node: holds its events until the opening event was published and nothing before them is missing. */
export class RemoteLane {
  /** Seq of the opening event. */
  readonly id: number;
  /** It is being asked for what is missing. */
  isHealing = false;
  #fold: LaneSnapshot | undefined;
  #relay: LaneRelay | undefined;
  #held: EphemeralEvent[] = [];
  #heldBytes = 0;

  /** Number of the last event that was published before the lane was closed here and opened again; 0 once it continues. */
  #publishedN: number;

  constructor(id: number, publishedN: number) {
    this.id = id;
    this.#publishedN = publishedN;
  }

  /** Its opening event was published, and its closing one was not. */
  get isOpen(): boolean {
    return this.#relay !== undefined;
  }

  /** Number of the last event that it knows of; 0: none. */
  get n(): number {
    return this.#fold?.n ?? 0;
  }

  /** Number of the last event that was published, now or before. */
  get publishedN(): number {
    return Math.max(this.n, this.#publishedN);
  }

  /** It is open, and something before what it holds is missing. */
  get hasGap(): boolean {
    return this.isOpen && this.#held.length > 0;
  }

  /** `call`: what a tool's lane belongs to. */
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

  /** Publishes what comes next and holds the rest. */
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

  /** Publishes one snapshot in place of these and of what it held, where they add anything. */
  heal(events: readonly EphemeralEvent[]): void {
    const fold = this.#fold;
    if (!fold) return;
    const before = fold.n;
    for (const event of events) fold.take(event);
    this.#takeHeld([]);
    if (fold.n > before) this.#publish([{ ...fold.snapshot(), lane: this.id, n: fold.n }]);
  }

  /** What was published before is not published again. The lane continues with a snapshot: new listeners have nothing of it. */
  #publish(events: readonly EphemeralEvent[]): void {
    const fold = this.#fold;
    if (this.#publishedN === 0) this.#relay?.publish(events);
    else if (fold && fold.n >= this.#publishedN) {
      this.#publishedN = 0;
      this.#relay?.publish([{ ...fold.snapshot(), lane: this.id, n: fold.n }]);
    }
  }

  /** What was held and comes next now. */
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
    // The newest part is what a snapshot can be joined with.
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
