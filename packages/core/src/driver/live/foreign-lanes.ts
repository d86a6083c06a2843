/*
 * Owns: what other nodes say in the lanes that are open: told here in order, from the opening event on and never after the closing one.
 * Does not own: the facts (they come from the log), the lanes of effects of this process (the hub has them).
 * Invariants
 *  N1 nothing is told of a lane before its opening event was, or after its closing one;
 *  N2 what is told of a lane goes on where it was, or is a snapshot: a gap is healed or the lane falls silent, never spliced;
 *  N3 what waits is bounded: beyond it the oldest is dropped, which is a gap.
 */
import type { EphemeralEvent, SessionEvent } from "../../loop/event.ts";
import type { State } from "../../loop/state.ts";
import type { Deps } from "../setup/deps.ts";
import { driverLimits } from "../setup/session-options.ts";
import { readDraft } from "./drafts.ts";
import { ForeignLane } from "./foreign-lane.ts";
import type { Hub } from "./hub.ts";
import { openLanes } from "./open-lanes.ts";

export interface ForeignLanes {
  /** True: hears the channel, and tells what the owner says. False: does neither, and forgets. */
  need(isNeeded: boolean): void;
  /** A state was adopted and its events were told; what comes after `seq` was told as it came. */
  heed(state: State, seq: number): void;
}

export interface ForeignLanesOptions {
  readonly deps: Deps;
  readonly hub: Hub;
  readonly current: () => State;
  /** Somebody has appended up to here; nobody knows how far without a seq. */
  readonly onTail: (seq: number | undefined) => void;
  /** Nobody else says anything: this process owns the session. */
  readonly isOwner: () => boolean;
}

export function createForeignLanes(options: ForeignLanesOptions): ForeignLanes {
  return new Foreign(options);
}

class Foreign implements ForeignLanes {
  readonly #options: ForeignLanesOptions;
  /** By the seq of their opening events; those that the state does not have yet only hold. */
  readonly #lanes = new Map<number, ForeignLane>();
  /** How far open lanes were told that are heard of no more: who heard it is not told it again. */
  readonly #told = new Map<number, number>();
  #unsubscribe: (() => void) | undefined;
  #cancelHeal: (() => void) | undefined;
  #isNeeded = false;
  /** The channel may have kept something from us, and no state with open lanes was adopted since. */
  #hasMissed = false;

  constructor(options: ForeignLanesOptions) {
    this.#options = options;
  }

  need(isNeeded: boolean): void {
    if (isNeeded === this.#isNeeded) return;
    this.#isNeeded = isNeeded;
    const { deps, current } = this.#options;
    if (isNeeded) {
      this.#unsubscribe = deps.channel?.subscribe(deps.ref, (events) => this.#hear(events), { gap: () => this.#missed() });
      this.heed(current(), current().seq);
      return;
    }
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    this.#stopHealing();
    for (const lane of this.#lanes.values()) {
      if (lane.isOpen) this.#told.set(lane.id, lane.toldN);
      lane.close();
    }
    this.#lanes.clear();
  }

  readonly heed = (state: State, seq: number): void => {
    if (!this.#isNeeded) return;
    const open = openLanes(state);
    for (const [id, lane] of this.#lanes) {
      if (id > state.seq || open.some(({ lane: one }) => one === id)) continue;
      lane.close();
      this.#lanes.delete(id);
    }
    if (open.length === 0) this.#stopHealing();
    for (const id of this.#told.keys()) if (id <= state.seq && !open.some(({ lane }) => lane === id)) this.#told.delete(id);
    const { hub, isOwner } = this.#options;
    if (isOwner()) return;
    for (const { lane: id, call } of open) {
      const known = this.#lanes.get(id);
      if (known?.isOpen || hub.isOwn(id)) continue;
      const lane = known ?? this.#add(id);
      lane.open(hub, { runId: state.run?.runId ?? "", call: call?.part });
      // Opened before this handle looked: what was said by then is to be found out. Without a channel nothing else tells.
      const isLate = id <= seq || lane.hasGap || this.#hasMissed;
      if (isLate || !this.#options.deps.channel) this.#heal(isLate);
    }
    if (open.length > 0) this.#hasMissed = false;
  };

  #hear(events: readonly SessionEvent[]): void {
    const { hub, onTail, isOwner, current } = this.#options;
    let seq = 0;
    let hasGap = false;
    for (let from = 0; from < events.length; ) {
      const first = events[from] as SessionEvent;
      let to = from + 1;
      if ("lane" in first) {
        while (to < events.length && laneOf(events[to]) === first.lane) to += 1;
        if (!hub.isOwn(first.lane) && !isOwner() && this.#take(first.lane, events.slice(from, to) as EphemeralEvent[])) hasGap = true;
        seq = Math.max(seq, first.lane);
      } else seq = Math.max(seq, first.seq);
      from = to;
    }
    if (hasGap) this.#heal(true);
    if (seq > current().seq) onTail(seq);
  }

  /** Looks at the log, and asks what open lanes have said. */
  #missed(): void {
    if (!this.#isNeeded) return;
    this.#hasMissed = true;
    this.#options.onTail(undefined);
    for (const lane of this.#lanes.values()) if (lane.isOpen && !lane.isHealing) void this.#healOne(lane);
  }

  /** True when something of the lane is missing. */
  #take(id: number, events: readonly EphemeralEvent[]): boolean {
    const known = this.#lanes.get(id);
    // Closed, or not known to be open: heed has opened all that are.
    if (!known && id <= this.#options.current().seq) return false;
    const lane = known ?? this.#add(id);
    lane.take(events);
    return lane.hasGap;
  }

  #add(id: number): ForeignLane {
    const lane = new ForeignLane(id, this.#told.get(id) ?? 0);
    this.#lanes.set(id, lane);
    // Those that are held for openings which never come must not pile up.
    if (this.#lanes.size > driverLimits.foreignLanes) {
      const oldest = [...this.#lanes.values()].find(({ isOpen }) => !isOpen);
      if (oldest) this.#lanes.delete(oldest.id);
    }
    return lane;
  }

  /** Asks for what is missing: at once, or once it can be there. */
  #heal(isNow: boolean): void {
    if (this.#cancelHeal && !isNow) return;
    if (isNow) {
      for (const lane of this.#lanes.values())
        if (lane.isOpen && !lane.isHealing && (lane.n === 0 || lane.hasGap || !this.#options.deps.channel)) void this.#healOne(lane);
    }
    this.#cancelHeal ??= this.#options.deps.clock.after(driverLimits.draftMs, () => this.#healAgain(), { idle: true });
  }

  #stopHealing(): void {
    this.#cancelHeal?.();
    this.#cancelHeal = undefined;
  }

  #healAgain(): void {
    this.#cancelHeal = undefined;
    const isOwed = [...this.#lanes.values()].some((lane) => lane.isOpen && (lane.hasGap || !this.#options.deps.channel));
    if (isOwed) this.#heal(true);
  }

  async #healOne(lane: ForeignLane): Promise<void> {
    const { deps } = this.#options;
    lane.isHealing = true;
    const ring = (await deps.channel?.recall?.(deps.ref, lane.id).catch(() => [])) ?? [];
    lane.heal(ring);
    if (lane.isOpen && (lane.hasGap || lane.n === 0 || !deps.channel)) {
      const draft = await readDraft(deps, lane.id);
      lane.heal(draft ? [draft, ...ring] : []);
    }
    lane.isHealing = false;
  }
}

const laneOf = (event: SessionEvent | undefined): number | undefined => (event && "lane" in event ? event.lane : undefined);
