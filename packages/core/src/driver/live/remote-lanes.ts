/*
 * Owns: publishing the open lanes of other nodes to the listeners of this process, in order.
 * Does not own: the facts (they come from the log), the lanes of effects of this process (event-hub).
 * Invariants
 *  N1 nothing of a lane is published before its opening event, or after its closing one;
 *  N2 each published event of a lane is the next one or a snapshot: events after a gap are held until the gap is filled;
 *  N3 held events are bounded: beyond the bound the oldest are dropped, which leaves a gap.
 */
import type { EphemeralEvent, SessionEvent } from "../../loop/event.ts";
import type { State } from "../../loop/state.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import type { Deps } from "../setup/session-deps.ts";
import type { EventHub } from "./event-hub.ts";
import { openLanes } from "./open-lanes.ts";
import { RemoteLane } from "./remote-lane.ts";
import { readDraft } from "./save-lane-drafts.ts";

export interface RemoteLanes {
  /** True: subscribes to the channel and publishes what the owner streams. False: unsubscribes and discards the lanes. */
  setActive(isActive: boolean): void;
  /** Called when a state was adopted and its events were published. Of lanes opened at or before `seq`, this handle may have missed events. */
  onState(state: State, seq: number): void;
}

export interface RemoteLanesOptions {
  readonly deps: Deps;
  readonly hub: EventHub;
  readonly session: RemoteLanesHost;
}

/** What the lanes of other nodes need of the session. */
export interface RemoteLanesHost {
  readonly state: State;
  /** True if this process owns the session, so that no other node streams. */
  readonly isOwner: boolean;
  /** Called when the log is known to reach this seq. `undefined`: the end of the log is unknown. */
  tailSeen(seq: number | undefined): void;
}

export function createRemoteLanes(options: RemoteLanesOptions): RemoteLanes {
  return new RemoteLaneSet(options);
}

class RemoteLaneSet implements RemoteLanes {
  readonly #options: RemoteLanesOptions;
  /** By the seq of their opening events. A lane whose opening event the state does not have yet only holds its events. */
  readonly #lanes = new Map<number, RemoteLane>();
  /** Number of the last event published of each lane that was open when the subscription ended: events up to it are not published again. */
  readonly #published = new Map<number, number>();
  #unsubscribe: (() => void) | undefined;
  #cancelHeal: (() => void) | undefined;
  #isActive = false;
  /** True if the channel may have lost events, and no state with open lanes was adopted since. */
  #hasMissed = false;

  constructor(options: RemoteLanesOptions) {
    this.#options = options;
  }

  setActive(isActive: boolean): void {
    if (isActive === this.#isActive) return;
    this.#isActive = isActive;
    const { deps, session } = this.#options;
    if (isActive) {
      this.#unsubscribe = deps.channel?.subscribe(deps.ref, (events) => this.#onEvents(events), { gap: () => this.#missed() });
      this.onState(session.state, session.state.seq);
      return;
    }
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    this.#stopHealing();
    for (const lane of this.#lanes.values()) {
      if (lane.isOpen) this.#published.set(lane.id, lane.publishedN);
      lane.close();
    }
    this.#lanes.clear();
  }

  readonly onState = (state: State, seq: number): void => {
    if (!this.#isActive) return;
    const open = openLanes(state);
    for (const [id, lane] of this.#lanes) {
      if (id > state.seq || open.some(({ lane: one }) => one === id)) continue;
      lane.close();
      this.#lanes.delete(id);
    }
    if (open.length === 0) this.#stopHealing();
    for (const id of this.#published.keys()) if (id <= state.seq && !open.some(({ lane }) => lane === id)) this.#published.delete(id);
    const { hub, session } = this.#options;
    if (session.isOwner) return;
    for (const { lane: id, call } of open) {
      const known = this.#lanes.get(id);
      if (known?.isOpen || hub.isOwn(id)) continue;
      const lane = known ?? this.#add(id);
      lane.open(hub, { runId: state.run?.runId ?? "", call: call?.part });
      // A late lane was opened before this handle subscribed: its earlier events must be fetched. Without a channel, all events must be fetched.
      const isLate = id <= seq || lane.hasGap || this.#hasMissed;
      if (isLate || !this.#options.deps.channel) this.#heal(isLate);
    }
    if (open.length > 0) this.#hasMissed = false;
  };

  #onEvents(events: readonly SessionEvent[]): void {
    const { hub, session } = this.#options;
    let seq = 0;
    let hasGap = false;
    for (let from = 0; from < events.length; ) {
      const first = events[from] as SessionEvent;
      let to = from + 1;
      if ("lane" in first) {
        while (to < events.length && laneOf(events[to]) === first.lane) to += 1;
        if (!hub.isOwn(first.lane) && !session.isOwner && this.#take(first.lane, events.slice(from, to) as EphemeralEvent[])) hasGap = true;
        seq = Math.max(seq, first.lane);
      } else seq = Math.max(seq, first.seq);
      from = to;
    }
    if (hasGap) this.#heal(true);
    if (seq > session.state.seq) session.tailSeen(seq);
  }

  /** The channel may have lost events: reads the log, and fetches the events of open lanes. */
  #missed(): void {
    if (!this.#isActive) return;
    this.#hasMissed = true;
    this.#options.session.tailSeen(undefined);
    for (const lane of this.#lanes.values()) if (lane.isOpen && !lane.isHealing) void this.#healOne(lane);
  }

  /** True if events of the lane are missing. */
  #take(id: number, events: readonly EphemeralEvent[]): boolean {
    const known = this.#lanes.get(id);
    // The lane is closed: `onState` has added all open lanes of the state.
    if (!known && id <= this.#options.session.state.seq) return false;
    const lane = known ?? this.#add(id);
    lane.take(events);
    return lane.hasGap;
  }

  #add(id: number): RemoteLane {
    const lane = new RemoteLane(id, this.#published.get(id) ?? 0);
    this.#lanes.set(id, lane);
    // Bounds the lanes that hold events for an opening event which may never come.
    if (this.#lanes.size > driverLimits.remoteLanes) {
      const oldest = [...this.#lanes.values()].find(({ isOpen }) => !isOpen);
      if (oldest) this.#lanes.delete(oldest.id);
    }
    return lane;
  }

  /** Fetches missing events now (`isNow`) and plans the next fetch, after the time in which the owner writes a draft. */
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

  async #healOne(lane: RemoteLane): Promise<void> {
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
