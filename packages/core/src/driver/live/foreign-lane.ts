import type { EphemeralEvent } from "../../loop/event.ts";
import type { ToolCallPart } from "../../message/content.ts";
import { driverLimits } from "../setup/session-options.ts";
import type { Hub, ForeignLane as HubLane } from "./hub.ts";
import { createLaneFold, type LaneFold } from "./lane-fold.ts";

/** One lane of another node: holds what it says until the opening event was told and nothing before it is missing. */
export class ForeignLane {
  /** Seq of the opening event. */
  readonly id: number;
  /** It is being asked for what is missing. */
  isHealing = false;
  #fold: LaneFold | undefined;
  #told: HubLane | undefined;
  #held: EphemeralEvent[] = [];
  #heldBytes = 0;

  /** Up to here it was told before, when it was heard of already; 0 once it goes on. */
  #toldN: number;

  constructor(id: number, toldN: number) {
    this.id = id;
    this.#toldN = toldN;
  }

  /** Its opening event was told, and its closing one was not. */
  get isOpen(): boolean {
    return this.#told !== undefined;
  }

  /** Number of the last event that it knows of; 0: none. */
  get n(): number {
    return this.#fold?.n ?? 0;
  }

  /** Number of the last event that was told, now or before. */
  get toldN(): number {
    return Math.max(this.n, this.#toldN);
  }

  /** It is open, and something before what it holds is missing. */
  get hasGap(): boolean {
    return this.isOpen && this.#held.length > 0;
  }

  /** `call`: what a tool's lane belongs to. */
  open(hub: Hub, { runId, call }: { readonly runId: string; readonly call: ToolCallPart | undefined }): void {
    const fold = createLaneFold(call);
    this.#fold = fold;
    this.#told = hub.openForeignLane({ id: this.id, runId, isAnswer: call === undefined, snapshot: fold.snapshot });
    this.take(this.#held.splice(0));
  }

  close(): void {
    this.#told?.close();
    this.#told = this.#fold = undefined;
    this.#drop();
  }

  /** Tells what comes next and holds the rest. */
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
    this.#tell(next);
  }

  /** Tells one snapshot in place of these and of what it held, as far as they bring it on. */
  heal(events: readonly EphemeralEvent[]): void {
    const fold = this.#fold;
    if (!fold) return;
    const before = fold.n;
    for (const event of events) fold.take(event);
    this.#takeHeld([]);
    if (fold.n > before) this.#tell([{ ...fold.snapshot(), lane: this.id, n: fold.n }]);
  }

  /** What was told before is not told again. It goes on with a snapshot: who begins to listen now has heard nothing of it. */
  #tell(events: readonly EphemeralEvent[]): void {
    const fold = this.#fold;
    if (this.#toldN === 0) this.#told?.tell(events);
    else if (fold && fold.n >= this.#toldN) {
      this.#toldN = 0;
      this.#told?.tell([{ ...fold.snapshot(), lane: this.id, n: fold.n }]);
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
