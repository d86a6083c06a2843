/*
 * Owns: the wake-ups of a session without work: appends and streams of other nodes, an expired lease, and dates.
 * Does not own: the reaction (the driver).
 */
import type { Fact } from "../../loop/fact.ts";
import { emptyState, isAtRest, type State } from "../../loop/state.ts";
import type { EventHub } from "../live/event-hub.ts";
import { createRemoteLanes, type RemoteLanes, type RemoteLanesHost } from "../live/remote-lanes.ts";
import { type LogEndWatch, watchLogEnd } from "../log/watch-log-end.ts";
import type { Ownership } from "../ownership/claim-and-release.ts";
import { createDateTimer, type DateTimer, dueFirings, expiredCalls, isDue } from "../ownership/due-dates.ts";
import { createRuleDates, type RuleDates } from "../ownership/rule-dates.ts";
import type { Deps } from "../setup/session-deps.ts";
import type { Offer } from "./inbox.ts";

/** The properties that decide on the subscriptions of a session. */
export interface Attention {
  readonly isOwner: boolean;
  readonly isWatched: boolean;
  /** True if the owner of an open run may be gone, and this process may continue the run. */
  readonly mayTakeOver: boolean;
}

/** The reports of the sources to the session. */
export interface WakeSourcesHost extends RemoteLanesHost {
  wake(): void;
  offer(offer: Offer): Promise<readonly Fact[]>;
}

export interface WakeSourcesParts {
  readonly session: WakeSourcesHost;
  readonly hub: EventHub;
  readonly ownership: Pick<Ownership, "trackTakeover">;
}

export class WakeSources {
  readonly #deps: Deps;
  readonly #parts: WakeSourcesParts;
  readonly #date: DateTimer;
  readonly #dates: RuleDates;
  /** Absent for a private store, because no other process appends to its log or streams. */
  readonly #tail: LogEndWatch | undefined;
  readonly #lanes: RemoteLanes | undefined;
  /** True if an owner needs the channel: the hub has only the streams of this process, and the log has no `subscribe`. */
  readonly #ownerNeedsLanes: boolean;

  constructor(deps: Deps, parts: WakeSourcesParts) {
    const { store, ref, clock, channel } = deps;
    const { session, hub } = parts;
    this.#deps = deps;
    this.#parts = parts;
    this.#dates = createRuleDates(deps.scheduleRules, deps.logger);
    this.#date = createDateTimer(clock, { onDate: () => this.#dateReached(), mayFire: this.#dates.mayFire });
    this.#ownerNeedsLanes = channel !== undefined && !store.log.subscribe;
    if (deps.isPrivate) return;
    const hasChannel = channel !== undefined;
    this.#tail = watchLogEnd({ log: store.log, ref, clock, hasChannel }, (seq) => session.tailSeen(seq));
    this.#lanes = createRemoteLanes({ deps, hub, session });
  }

  /** Subscribes for a subscriber of the session. True if there was no subscription before, so that earlier appends were not noticed. */
  begin(): boolean {
    this.#lanes?.setActive(!this.#parts.session.isOwner || this.#ownerNeedsLanes);
    return this.#tail?.begin() ?? false;
  }

  /** Subscribes before a claim, so that no append after the end of the log that the claim returns is missed. */
  beginOwner(): void {
    this.#tail?.setActive(true);
  }

  update({ isOwner, isWatched, mayTakeOver }: Attention): void {
    if (this.#deps.isPrivate) return;
    this.#lanes?.setActive(isOwner ? this.#ownerNeedsLanes : isWatched);
    this.#tail?.setActive(isOwner || isWatched);
    this.#parts.ownership.trackTakeover(isWatched && !isOwner && mayTakeOver);
  }

  /** Called when a state was adopted and its events were published; events after `seq` were published live. */
  onState(state: State, seq: number): void {
    this.#lanes?.onState(state, seq);
  }

  /** Waits for the next date of the state. Only the owner waits for a retry, because another handle would wake again and again without work. */
  waitForDate(state: State, mayOwn: boolean): void {
    const isWaitedFor = this.#parts.session.isOwner || isAtRest(state);
    this.#date.set(mayOwn && isWaitedFor ? state : emptyState);
  }

  retryAfterFault(isAwaited: boolean): void {
    this.#date.setAfterFault(isAwaited);
  }

  unsubscribe(): void {
    if (this.#deps.isPrivate) return;
    this.#lanes?.setActive(false);
    this.#tail?.setActive(false);
    this.#parts.ownership.trackTakeover(false);
  }

  end(): void {
    this.#date.cancel();
    this.unsubscribe();
  }

  #dateReached(): void {
    const { session } = this.#parts;
    const now = this.#deps.clock.now();
    if (!isDue(session.state, now, this.#dates.mayFire)) {
      session.wake();
      return;
    }
    const means = { ids: this.#deps.ids, dates: this.#dates };
    const bodies: Offer["bodies"] = (newest) => [...expiredCalls(newest, now), ...dueFirings(newest, now, means)];
    session.offer({ bodies, needsOwner: true, waitsForStore: true }).catch(() => {});
  }
}
