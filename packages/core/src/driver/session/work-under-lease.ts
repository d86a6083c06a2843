/*
 * Owns: the work of an owner: effects in preparation, running effects, the draft of their streams, and their closing facts until the inbox has
 * them.
 * Does not own: which effects are needed (plan), what is recorded (the driver).
 */
import type { Fact, FactBody } from "../../loop/fact.ts";
import type { BackgroundChild, KeyedChild, State } from "../../loop/state.ts";
import type { Clock } from "../../ports/clock.ts";
import type { RequestBuilder } from "../../prompt/request-builder.ts";
import type { ChildResult, SpawnedChild } from "../../tools/child-agent.ts";
import { AwaitedChildren, type ChildHost, type ChildOrigin, type ChildRequest } from "../children/awaited-children.ts";
import { BackgroundChildren, type BackgroundHost } from "../children/background-children.ts";
import type { ChildPlace } from "../children/child-facts.ts";
import type { EffectHost } from "../effects/effect-deps.ts";
import type { SyncOrAsync } from "../effects/sync-or-async.ts";
import type { EventHub } from "../live/event-hub.ts";
import { openLanes } from "../live/open-lanes.ts";
import { createDrafts, type Drafts, noDrafts } from "../live/save-lane-drafts.ts";
import { type Note, noteFact } from "../log/note-fact.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import type { ChildSpending, Deps } from "../setup/session-deps.ts";
import type { Inbox, Offer } from "./inbox.ts";
import type { PendingBatch } from "./pending-batch.ts";
import { EffectPreparation, type Launch } from "./prepare-effects.ts";
import { EffectEnds } from "./record-effect-ends.ts";
import { createEffects, type Effects } from "./running-effects.ts";

/** The parts of the session that the work uses. */
export interface WorkUnderLeaseHost {
  /** The newest adopted state. */
  readonly state: State;
  /** Called when something new can be recorded or launched. */
  wake(): void;
  /** Like `wake`, for something that a batch can take before user code has answered. */
  interrupt(): void;
  readonly isOwner: boolean;
  /** Drives the session until it rests, without a subscriber. */
  driveUntilIdle(): void;
}

export interface WorkUnderLeaseParts {
  readonly session: WorkUnderLeaseHost;
  readonly hub: EventHub;
  readonly builder: RequestBuilder;
  readonly inbox: Inbox;
}

export class WorkUnderLease implements EffectHost, ChildHost, BackgroundHost {
  readonly #session: WorkUnderLeaseHost;
  readonly #inbox: Inbox;
  readonly #effects: Effects;
  readonly #preparation: EffectPreparation;
  readonly #closings: EffectEnds;
  readonly #drafts: Drafts;
  readonly #clock: Clock;
  readonly #children: AwaitedChildren;
  readonly #background: BackgroundChildren;
  readonly #drives: boolean;
  #cancelEnd: (() => void) | undefined;

  constructor(deps: Deps, { session, hub, builder, inbox }: WorkUnderLeaseParts) {
    this.#session = session;
    this.#clock = deps.clock;
    this.#drafts = deps.isPrivate || deps.bound.agent.data ? noDrafts : createDrafts(deps, hub);
    this.#inbox = inbox;
    this.#closings = new EffectEnds(deps, { inbox, session });
    this.#effects = createEffects({ deps, builder, hub, session: this });
    this.#preparation = new EffectPreparation({ effects: this.#effects, clock: deps.clock, session });
    this.#children = new AwaitedChildren(deps, this);
    this.#background = new BackgroundChildren(deps, this);
    this.#drives = deps.drives;
  }

  /** The number of running effects, including those whose closing fact is being recorded. */
  get count(): number {
    return this.#effects.count();
  }

  get state(): State {
    return this.#session.state;
  }

  close(body: FactBody): Promise<void> {
    return this.#closings.add(body, this.count);
  }

  async record(note: Note): Promise<void> {
    await this.#put({ bodies: () => [noteFact(note)], needsOwner: false });
  }

  child(place: ChildOrigin, request: ChildRequest): Promise<ChildResult> {
    return this.#children.start(place, request);
  }

  stopChild(place: ChildPlace, child: KeyedChild): Promise<FactBody> {
    return this.#children.stop(place, child);
  }

  spentBelow(): ChildSpending {
    return this.#children.spent();
  }

  spawn(place: ChildPlace, request: ChildRequest): Promise<SpawnedChild> {
    return this.#background.start(place, request);
  }

  startChild(child: BackgroundChild): Promise<FactBody | undefined> {
    return this.#background.begin(child);
  }

  /** Reports the end of a child in the background that ran elsewhere, or continues the call that rests because of a child. */
  collect(child: string): Promise<unknown> {
    return this.#background.collect(child);
  }

  get backgroundRests(): boolean {
    return this.#background.rests;
  }

  settle(): void {
    this.#session.wake();
  }

  /** Waits for the children in the background. */
  attendChildren(): void {
    this.#background.attend();
  }

  /** Stops the children in the background, whose reports are not read any more. */
  stopChildren(): void {
    this.#background.stop();
  }

  get isOwner(): boolean {
    return this.#session.isOwner;
  }

  async report(bodies: Offer["bodies"]): Promise<void> {
    await this.#put({ bodies, needsOwner: true, waitsForStore: true });
    if (this.#drives) this.#session.driveUntilIdle();
  }

  offer(bodies: Offer["bodies"]): Promise<readonly Fact[]> {
    return this.#put({ bodies, needsOwner: false, waitsForStore: true });
  }

  /** Ends the wait of a batch for user code, because that code may wait for this offer. */
  #put(offer: Offer): Promise<readonly Fact[]> {
    const recorded = this.#inbox.put(offer);
    this.#session.interrupt();
    return recorded;
  }

  effectLeft(): void {
    this.#session.wake();
  }

  prepareOwed(pending: PendingBatch): SyncOrAsync<readonly Launch[]> {
    return this.#preparation.prepareOwed(pending);
  }

  /** Signals the effects that the state no longer needs. */
  onState(state: State): void {
    this.#effects.onState(state);
    this.#children.onState(state);
    this.#background.onState(state);
  }

  /** Keeps a draft of the open lanes for readers on other nodes. */
  keepDraft(state: State, isOwner: boolean): void {
    this.#drafts.keep(isOwner && openLanes(state).length > 0);
  }

  /** Stops waiting for user code. */
  interrupt(): void {
    this.#preparation.interrupt();
  }

  /** Signals all effects for a hand-over: those that end within 500 ms are still recorded, the others are dropped. */
  end(): void {
    this.#preparation.interrupt();
    this.#preparation.forget();
    this.#effects.handOver();
    this.#leaveChildren();
    this.#cancelEnd ??= this.#clock.after(driverLimits.handOverMs, () => {
      this.#effects.forget();
      this.#session.wake();
    });
  }

  #leaveChildren(): void {
    this.#children.leave();
    this.#background.leave();
  }

  /** Called when the hand-over is over. */
  ended(): void {
    this.#cancelEnd?.();
    this.#cancelEnd = undefined;
  }

  /** Forgets everything: another process may own the session, so what runs here counts no more. */
  abandon(): void {
    this.#drafts.keep(false);
    this.#effects.forget();
    this.#leaveChildren();
    this.#preparation.interrupt();
    this.#preparation.forget();
    this.#inbox.dropClosings();
  }
}
