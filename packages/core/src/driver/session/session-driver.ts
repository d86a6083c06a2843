/*
 * Owns: the command loop of one session: fold what arrived, plan, prepare effects, append one batch, adopt, publish, signal, launch.
 * Does not own: which phase follows (session-phase), one decision (claim-fold-append-start), what follows from facts (loop), the effects under the
 *  lease (work-under-lease), the listeners (event-hub).
 * Invariants
 *  D1 nothing is published, launched or acknowledged before the log has it;
 *  D2 one batch per decision, one decision at a time;
 *  D3 after any failure of the log the driver behaves as if its process had died: it drops everything and reads the log again;
 *  D4 a decision is written and launched under the lease of its beginning, or not at all.
 */
import type { AgentError } from "../../errors.ts";
import { waitingAbove } from "../../loop/children/background-children.ts";
import type { Fact } from "../../loop/fact.ts";
import { isAtRest, type State } from "../../loop/state.ts";
import { createRequestBuilder, type RequestBuilder } from "../../prompt/request-builder.ts";
import { createEventHub, type EventHub } from "../live/event-hub.ts";
import { type Adoption, LogView, type LogViewHost } from "../log/log-view.ts";
import { createOwnership, type Ownership, type OwnershipHost } from "../ownership/claim-and-release.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import type { ChildSpending, Deps } from "../setup/session-deps.ts";
import { handleLetGo } from "../setup/session-errors.ts";
import { internalError, reportLoss } from "../setup/user-code-errors.ts";
import { Decider, type DeciderHost } from "./claim-fold-append-start.ts";
import { createDriveUntilIdle } from "./drive-until-idle.ts";
import { createWatchers, type Watcher, type Watchers } from "./idle-listeners.ts";
import { createInbox, type Inbox, type Offer } from "./inbox.ts";
import { nextPhase, type PhaseAction, type PhaseSignal, type SessionPhase } from "./session-phase.ts";
import { WakeSources, type WakeSourcesHost } from "./wake-up-sources.ts";
import { WorkUnderLease, type WorkUnderLeaseHost } from "./work-under-lease.ts";

export class SessionDriver implements LogViewHost, OwnershipHost, WakeSourcesHost, WorkUnderLeaseHost, DeciderHost {
  readonly hub: EventHub;
  readonly builder: RequestBuilder = createRequestBuilder();
  /** The part of the log that this process has read. */
  readonly view: LogView;
  readonly #deps: Deps;
  readonly #inbox: Inbox;
  readonly #ownership: Ownership;
  readonly #work: WorkUnderLease;
  readonly #decider: Decider;
  readonly #sources: WakeSources;
  readonly #watchers: Watchers = createWatchers();
  phase: SessionPhase;
  #drive: (() => void) | undefined;
  /** True while a round of the command loop is in progress. */
  #isRunning = false;
  /** True if something may have happened since the last decision began. */
  #isWoken = false;
  /** Resolved when this process no longer owns a session that it hands over. */
  readonly #handedOver: (() => void)[] = [];
  /** Settled when the store has the last release of a lease. */
  released: Promise<void> | undefined;

  constructor(deps: Deps) {
    const { channel, ref } = deps;
    this.#deps = deps;
    this.phase = { name: "loading", mayOwn: deps.drives };
    this.#inbox = createInbox(deps.clock, (error) => internalError(deps, "An input could not be turned into facts", error));
    this.view = new LogView(deps, this);
    this.hub = createEventHub(channel && ((events) => channel.publish(ref, events)));
    this.#ownership = createOwnership(deps, this);
    this.#work = new WorkUnderLease(deps, { session: this, hub: this.hub, builder: this.builder, inbox: this.#inbox });
    this.#sources = new WakeSources(deps, { session: this, hub: this.hub, ownership: this.#ownership });
    this.#decider = new Decider(deps, {
      ...{ session: this, view: this.view, inbox: this.#inbox, ownership: this.#ownership, work: this.#work, sources: this.#sources },
    });
  }

  get state(): State {
    return this.view.state;
  }

  get isOwner(): boolean {
    return this.#ownership.lease !== undefined;
  }

  get isWatched(): boolean {
    return this.#watchers.size > 0;
  }

  watch(watcher: Watcher): () => void {
    if (this.phase.name === "disposed") void Promise.resolve().then(() => this.#watchers.lost(handleLetGo()));
    const leave = this.#watchers.add(watcher);
    return () => {
      leave();
      if (!this.isWatched && !this.isOwner) this.#sources.unsubscribe();
    };
  }

  /** Resolves with the facts when the log has them, or with none if there was nothing to record. Rejects with the AgentError that refused them. */
  offer(offer: Offer): Promise<readonly Fact[]> {
    if (this.phase.name === "disposed") return Promise.reject(handleLetGo());
    const done = this.#inbox.put(offer);
    this.view.invalidate();
    this.interrupt();
    return done;
  }

  /** Runs the command loop; a loop in progress makes another decision. */
  wake(): void {
    this.#isWoken = true;
    if (!this.#isRunning && this.phase.name !== "disposed") void this.#run();
  }

  /** Like `wake`, and stops waiting for user code, because something has arrived that can be recorded before that code answers. */
  interrupt(): void {
    this.#work.interrupt();
    this.wake();
  }

  /** Drives the session until it rests, without a subscriber. */
  driveUntilIdle(): void {
    this.#drive ??= createDriveUntilIdle(this);
    this.#drive();
  }

  /**
   * Reports the end of a child in the background, which ran elsewhere, or continues the call that rests because of a child. Resolves with the session
   * above that may rest because of this one. @throws AgentError STORE_*
   */
  async collect(child: string): Promise<string | undefined> {
    await this.view.load();
    // This handle may have been loaded before another process started the child.
    this.view.invalidate();
    await this.#work.collect(child);
    return waitingAbove(this.state);
  }

  /** True if no child works in the background: each waits for a person or a client, and another process continues it after that. */
  get backgroundRests(): boolean {
    return this.#work.backgroundRests;
  }

  /** Continues children in the background here if no worker does. */
  attendChildren(): void {
    this.#work.attendChildren();
  }

  /** What the children that run here have spent and the log does not have yet. */
  spentBelow(): ChildSpending {
    return this.#work.spentBelow();
  }

  /** Stops the children in the background. */
  stopChildren(): void {
    this.#work.stopChildren();
  }

  /** Disposes of the session: running effects get an abort signal and are left to the next owner. */
  async dispose(): Promise<void> {
    this.signal("dispose");
    await this.released;
  }

  /** Hands the session over to the next process that claims it, and then follows it. Effects that end soon after their signal are recorded. */
  async handOver(): Promise<void> {
    if (this.phase.name === "disposed") return;
    const confirmed = new Promise<void>((resolve) => void this.#handedOver.push(resolve));
    this.signal("hand-over");
    this.wake();
    await confirmed;
  }

  /** Leaves the session to other processes for this time. 0: ends that. */
  deferClaim(ms: number): void {
    this.#ownership.defer(ms);
    this.wake();
  }

  /** Called when the owner has left: does not wait for the end of its lease. */
  takeOver(): void {
    this.#ownership.rivalLeft();
    this.wake();
  }

  /** Called when another process may hold the lease: nothing more is done under the lease of this process. */
  leaseLost(): void {
    this.signal("lease-lost");
  }

  othersAppended({ epoch }: State): void {
    const { lease } = this.#ownership;
    if (lease && epoch > lease.epoch) this.leaseLost();
  }

  adopted({ state, events, oldSeq }: Adoption): void {
    this.#work.onState(state);
    this.hub.publish(events);
    this.#work.keepDraft(state, this.isOwner);
    this.#sources.onState(state, oldSeq);
  }

  tailSeen(seq: number | undefined): void {
    this.view.noteTail(seq);
    if (this.view.isBehind) this.interrupt();
  }

  /** How long an unavailable store is retried. 0 if no effect of an owner runs here, because then none would be lost. */
  get outageMs(): number {
    return this.isOwner && this.#work.count > 0 ? driverLimits.outageMs : 0;
  }

  /** Enters the phase that follows the signal, and performs the actions of the transition. */
  signal(signal: PhaseSignal): void {
    const { phase, actions } = nextPhase(this.phase, signal);
    this.phase = phase;
    for (const action of actions) this.#do(action);
  }

  #do(action: PhaseAction): void {
    switch (action) {
      case "abandon-work":
        this.#ownership.drop();
        this.#work.abandon();
        return;
      case "end-work":
        this.#work.end();
        return;
      case "release-lease":
        this.released = this.#ownership.release();
        return;
      case "subscribe":
        this.#updateSubscriptions();
        return;
      case "confirm-hand-over":
        this.#work.ended();
        for (const resolve of this.#handedOver.splice(0)) resolve();
        return;
      case "stop":
        this.#sources.end();
        if (this.#inbox.length > 0) this.#inbox.refuseAll(handleLetGo());
        return;
      case "dismiss-watchers":
        if (this.isWatched) this.#watchers.lost(handleLetGo());
        return;
      default:
        action satisfies never;
    }
  }

  /** One round: makes decisions until there is no work now. */
  async #run(): Promise<void> {
    this.#isRunning = true;
    this.view.invalidate();
    try {
      this.#subscribeFirst();
      await this.view.load();
      this.signal("loaded");
      do {
        if (this.view.isBehind) await this.view.read();
        this.#isWoken = false;
      } while (this.phase.name !== "disposed" && ((await this.#decider.decide()) || this.#isWoken));
    } catch (error) {
      this.#loseLog(internalError(this.#deps, "The session could not continue", error));
    }
    this.#isRunning = false;
    if (!this.isOwner) this.signal("idle");
    // The phase is `loading` after a fault.
    if (this.phase.name !== "disposed" && this.phase.name !== "loading") this.#settle();
  }

  /** Subscribes before the log is read. A log that was read before is read again, because others may have appended in between. */
  #subscribeFirst(): void {
    if (this.isWatched && this.#sources.begin()) this.view.markStale();
  }

  /** Called when a newer version has continued the session: a process that can read the log must own the session. */
  giveUp(tooNew: AgentError): void {
    this.signal("lease-given-up");
    this.#inbox.refuseAll(tooNew);
    if (this.view.hasJustClosed()) this.#watchers.lost(tooNew);
  }

  /** D3: drops everything, so that the next use reads the log again. */
  #loseLog(error: AgentError): void {
    // A process that has the session's agent can claim the session at once.
    if (error.code === "SESSION_AGENT_MISMATCH") this.signal("lease-given-up");
    this.signal("log-lost");
    this.view.lose(error);
    this.#sources.unsubscribe();
    reportLoss(this.#deps, error);
    this.#inbox.lose(error);
    this.#watchers.lost(error);
    this.#sources.retryAfterFault(this.isWatched && this.phase.name !== "disposed");
  }

  /** There is no work now: notifies the subscribers, and waits for the next wake-up. */
  #settle(): void {
    // The first subscriber may have come in this round, after the last one had left and the subscriptions of the log had ended.
    this.#subscribeFirst();
    if (this.#inbox.length > 0 || this.view.isBehind) return void this.wake();
    this.view.rest();
    this.#watchers.settled(this.state);
    this.#updateSubscriptions();
    this.#sources.waitForDate(this.state, this.phase.mayOwn && !this.view.tooNew);
  }

  #updateSubscriptions(): void {
    const mayTakeOver = this.phase.mayOwn && !this.view.tooNew && !isAtRest(this.state);
    this.#sources.update({ isOwner: this.isOwner, isWatched: this.isWatched, mayTakeOver });
  }
}
