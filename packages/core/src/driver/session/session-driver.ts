/*
 * Owns: the hall of one session: fold what came, plan, prepare what is owed, append once, adopt, publish, signal, launch.
 * Does not own: what follows (loop), how an effect runs (effects), who listens (hub).
 * Invariants
 *  D1 nothing is published, launched or acknowledged before the log has it;
 *  D2 one batch per decision, one decision at a time;
 *  D3 whatever goes wrong with the log, the driver behaves as if its process had died: it drops all and reads again;
 *  D4 a decision is written and launched under the lease that it was made under, or not at all.
 */
import type { AgentError } from "../../errors.ts";
import type { Fact } from "../../loop/fact.ts";
import { emptyState, isAtRest, type State } from "../../loop/state.ts";
import { createRequestBuilder, type RequestBuilder } from "../../prompt/request-builder.ts";
import { createDrafts, type Drafts, noDrafts } from "../live/drafts.ts";
import { createHub, type Hub } from "../live/hub.ts";
import { openLanes } from "../live/open-lanes.ts";
import { type Adoption, LogView } from "../log/log-view.ts";
import { createDateTimer, type DateTimer, dueOf } from "../ownership/dates.ts";
import { createOwnership, type Ownership } from "../ownership/ownership.ts";
import type { Deps } from "../setup/deps.ts";
import { handleLetGo, historyLost, sessionClosed, storeConflict, storeFull } from "../setup/session-errors.ts";
import { driverLimits } from "../setup/session-options.ts";
import { internalError, reportLoss } from "../setup/user-code.ts";
import { type BatchDecision, isForLog } from "./batch-decision.ts";
import { createClosings } from "./closings.ts";
import { type Committed, commitBatch } from "./commit.ts";
import { createEffects, type Effects } from "./effects.ts";
import { createInbox, type Inbox, type Offer, type WaitingOffer } from "./inbox.ts";
import { lateOffer } from "./late-offer.ts";
import { createListening, type Listening } from "./listening.ts";
import { createPreparing, type Preparing } from "./preparing.ts";
import { speculate } from "./speculation.ts";
import { createWatchers, type Watcher } from "./watchers.ts";

export class SessionDriver {
  readonly hub: Hub;
  readonly builder: RequestBuilder = createRequestBuilder();
  private readonly deps: Deps;
  private readonly effects: Effects;
  private readonly preparing: Preparing;
  private readonly inbox: Inbox;
  private readonly listening: Listening;
  private readonly drafts: Drafts;
  private readonly watchers = createWatchers();
  /** What is known of the log here. */
  readonly view: LogView;
  private readonly own: Ownership;
  private isPumping = false;
  private isDisposed = false;
  /** May own the session; false for good once it was handed over. */
  private drives: boolean;
  /** Told once a session that is handed over has no owner here. */
  private readonly handedOver: (() => void)[] = [];
  /** Conflicts in a row after which nothing new was to be read. */
  private emptyConflicts = 0;
  private readonly date: DateTimer;

  constructor(deps: Deps) {
    this.deps = deps;
    this.drives = deps.drives;
    const { channel, ref, clock } = deps;
    this.inbox = createInbox(clock, (error) => internalError(deps, "An input could not be turned into facts", error));
    this.view = new LogView(deps, {
      onForeign: ({ epoch }) => void (this.own.lease && epoch > this.own.lease.epoch && this.loseLease()),
      onAdopt: (adoption) => this.adopted(adoption),
      staysFor: () => this.staysFor(),
    });
    this.hub = createHub(channel && ((events) => channel.publish(ref, events)));
    this.drafts = deps.isPrivate ? noDrafts : createDrafts(deps, () => this.hub.snapshots());
    const close = createClosings({ ...deps, inbox: this.inbox, count: () => this.effects.count(), look: () => this.look() });
    this.effects = createEffects({
      deps,
      builder: this.builder,
      hub: this.hub,
      current: () => this.state,
      close,
      onLeft: () => this.kick(),
    });
    this.preparing = createPreparing({ effects: this.effects, clock, onReady: () => this.kick() });
    this.own = createOwnership(deps, { onLost: () => this.loseLease(), onTurn: () => this.kick() });
    this.date = createDateTimer(clock, () => this.onDate());
    const onTail = (seq: number | undefined): void => {
      this.view.noteTail(seq);
      if (this.view.isBehind) this.look();
    };
    const { awaitTurn } = this.own;
    this.listening = createListening(deps, { hub: this.hub, current: () => this.state, onTail, isOwner: () => this.isOwner, awaitTurn });
  }

  get state(): State {
    return this.view.state;
  }

  get isOwner(): boolean {
    return this.own.lease !== undefined;
  }

  /** Reads the log, once. @throws AgentError SESSION_CORRUPT, STORE_* */
  load(): Promise<void> {
    return this.view.load();
  }

  watch(watcher: Watcher): () => void {
    if (this.isDisposed) void Promise.resolve().then(() => this.watchers.lost(handleLetGo()));
    const leave = this.watchers.add(watcher);
    return () => {
      leave();
      if (this.watchers.size === 0 && !this.own.lease) this.listening.end();
    };
  }

  /** Resolves when the facts are in the log, with these, or nothing was left to record. Rejects with the AgentError that refused them. */
  offer(offer: Offer): Promise<readonly Fact[]> {
    if (this.isDisposed) return Promise.reject(handleLetGo());
    const done = this.inbox.put(offer);
    this.view.growOld();
    this.look();
    return done;
  }

  /** Something is in the inbox. */
  private look(): void {
    this.preparing.interrupt();
    this.kick();
  }

  /** Looks whether something is to be done. */
  kick(): void {
    if (!this.isPumping && !this.isDisposed) void this.pump();
  }

  /** Lets go: nothing more is done here; what is under way is signalled and left to the next owner. */
  async dispose(): Promise<void> {
    if (this.isDisposed) return;
    this.isDisposed = true;
    this.date.cancel();
    const released = this.own.release();
    this.loseLease();
    this.endDisposed();
    this.watchers.lost(handleLetGo());
    await released;
  }

  /** Gives the session to whoever claims it next, at once: what ends soon after the signal is recorded, the rest is left. Follows it from then on. */
  async handOver(): Promise<void> {
    if (this.isDisposed) return;
    this.drives = false;
    this.preparing.interrupt();
    this.preparing.forget();
    this.effects.handOver();
    const cancel = this.deps.clock.after(driverLimits.handOverMs, () => {
      this.effects.forget();
      this.kick();
    });
    await new Promise<void>((resolve) => {
      this.handedOver.push(resolve);
      this.kick();
    });
    cancel();
  }

  private async pump(): Promise<void> {
    this.isPumping = true;
    this.view.growOld();
    let isLost = false;
    try {
      // Watched before it is read. Where it was read before that, others may have appended in between.
      if (this.watchers.size > 0 && this.listening.begin()) this.view.doubt();
      await this.load();
      do {
        if (this.view.isBehind) await this.view.read();
      } while (!this.isDisposed && (await this.decide()));
    } catch (error) {
      isLost = true;
      this.lose(internalError(this.deps, "The session could not go on", error));
    }
    this.isPumping = false;
    if (!this.isOwner) for (const resolve of this.handedOver.splice(0)) resolve();
    if (this.isDisposed) this.endDisposed();
    if (this.isDisposed || isLost) return;
    // Who watches may have begun to while this was under way, after those before had left and nobody was listened to.
    if (this.watchers.size > 0 && this.listening.begin()) this.view.doubt();
    if (this.inbox.length > 0 || this.view.isBehind) this.kick();
    else this.settle();
  }

  /** What came while it was let go of, and what a claim under way began to listen to. */
  private endDisposed(): void {
    this.listening.end();
    this.inbox.refuseAll(handleLetGo());
  }

  /** One decision: from what came to one batch. False when nothing is left to do now. */
  private async decide(): Promise<boolean> {
    if (this.view.tooNew) return this.refuse(this.view.tooNew);
    if (this.own.lease?.isSure === false) await this.own.lease.makeSure();
    const takesOver = this.watchers.size > 0 && !isAtRest(this.state) && this.own.mayClaim;
    const wantsOwner = this.drives && (this.inbox.needsOwner || takesOver);
    if (this.inbox.length === 0 && !this.isOwner && !wantsOwner) return false;
    if (!this.isOwner && wantsOwner) await this.claim();
    // What there is to say to an offer depends on what others did: only an owner knows all of it.
    if (!this.isOwner) await this.view.refresh();
    const { clock, node, leaseMs, sessionId } = this.deps;
    const speculation = speculate(this.state, { sessionId, now: clock.now(), epoch: this.own.lease?.epoch });
    const { lease } = this.own;
    if (lease && lease.epoch > this.state.epoch) speculation.add({ type: "owner.claimed", node, leaseMs });
    const accepted = this.inbox.accept(speculation);
    const launches = lease && this.drives && !this.inbox.isAlone ? await this.preparing.prepareOwed(speculation) : [];
    if (this.isDisposed || this.own.lease !== lease) {
      this.putBack(accepted);
      return !this.isDisposed;
    }
    const rests =
      lease !== undefined &&
      !this.inbox.isAlone &&
      launches.length === 0 &&
      this.effects.count() <= accepted.filter((offer) => offer.isClosing).length &&
      this.inbox.length === 0 &&
      (isAtRest(speculation.state) || !this.drives);
    const decision: BatchDecision = { speculation, accepted, launches, lease, rests };
    if (isForLog(decision, this.state)) return this.conclude(await this.append(decision), decision);
    await this.finish(decision);
    if (rests) await this.own.release();
    return this.inbox.isAlone || launches.length > 0 || accepted.length > 0;
  }

  /** A newer version has gone on with the session: whoever can read it is to own it. Those who came since only look. */
  private refuse(tooNew: AgentError): false {
    void this.own.release();
    this.loseLease();
    this.inbox.refuseAll(tooNew);
    if (this.view.hasJustClosed()) this.watchers.lost(tooNew);
    return false;
  }

  /** How long to stay with a store that is away: what runs here would be lost with it, and nothing of that is worth more than the lease. */
  private staysFor(): number {
    return this.isOwner && this.effects.count() > 0 ? driverLimits.outageMs : 0;
  }

  private append({ speculation, lease, rests }: BatchDecision): Promise<Committed> {
    const claim = lease ? { epoch: lease.epoch, ...(rests ? { release: true } : {}) } : {};
    const { facts, state } = speculation;
    const request = { expectedSeq: this.state.seq, batchId: this.deps.ids.next(), facts, due: dueOf(state), ...claim };
    return commitBatch({ ...this.deps, staysFor: () => this.staysFor() }, request);
  }

  private async conclude(outcome: Committed, decision: BatchDecision): Promise<boolean> {
    switch (outcome.type) {
      case "ok":
      case "dup":
        if (decision.rests) this.own.drop();
        this.emptyConflicts = 0;
        this.view.append(decision.speculation, decision.lease !== undefined);
        this.deps.channel?.publish(this.deps.ref, decision.speculation.events);
        await this.finish(decision);
        return true;
      case "conflict":
        if (outcome.actualSeq < this.state.seq) throw historyLost(this.deps.sessionId, outcome.actualSeq);
        this.putBack(decision.accepted);
        await this.view.read();
        // The log says that others were faster, and shows nothing of them.
        if (this.state.seq === decision.speculation.from && ++this.emptyConflicts > driverLimits.conflictsMax) throw storeConflict();
        return true;
      case "fenced":
        this.loseLease();
        this.putBack(decision.accepted);
        await this.view.read();
        return true;
      case "closed": {
        const error = sessionClosed(this.deps.sessionId);
        for (const offer of decision.accepted) offer.reject(error);
        await this.view.read();
        if (this.state.status !== "closed") throw error; // Removed before anything of it was read.
        return true;
      }
      case "refused":
        this.inbox.refused(decision.accepted, outcome.error);
        return true;
      case "full":
        for (const offer of decision.accepted) offer.reject(storeFull());
        throw storeFull();
      default:
        return outcome satisfies never;
    }
  }

  /** Acknowledges and launches, once the log has it. */
  private async finish({ accepted, launches, lease }: BatchDecision): Promise<void> {
    for (const offer of accepted) offer.resolve();
    // What came while the batch was written may stop the run; the process may stand still while that is read, and others append while the lease is confirmed.
    while (launches.length > 0 && lease && this.own.lease === lease && (this.view.isBehind || !lease.isSure))
      await (this.view.isBehind ? this.view.read() : lease.makeSure());
    if (this.own.lease === lease) for (const launch of launches) launch({ state: this.state, isStopped: this.inbox.stopsRun(this.state) });
  }

  /** Offers of a decision that was not written wait for the next one; closing facts are void without the lease. */
  private putBack(offers: readonly WaitingOffer[]): void {
    this.inbox.putBack(offers);
    if (!this.own.lease) this.inbox.dropClosings();
  }

  private adopted({ state, events, oldSeq }: Adoption): void {
    this.effects.heed(state);
    this.hub.publish(events);
    this.drafts.heed(this.isOwner && openLanes(state).length > 0);
    this.listening.heed(state, oldSeq);
  }

  private async claim(): Promise<void> {
    this.listening.beginOwner();
    const lastSeq = await this.own.claim();
    if (this.isOwner) this.attend();
    if (this.isDisposed) await this.own.release();
    else if (lastSeq !== undefined && lastSeq > this.state.seq) await this.view.read();
  }

  /** Another may own the session: what is under way here counts no more. */
  private loseLease(): void {
    this.own.drop();
    this.drafts.heed(false);
    this.effects.forget();
    this.preparing.interrupt();
    this.preparing.forget();
    this.inbox.dropClosings();
  }

  /** The log is lost to us: drop all, so that the next use reads it again. */
  private lose(error: AgentError): void {
    // A process that has the session's agent can run it at once.
    if (error.code === "SESSION_AGENT_MISMATCH") void this.own.release();
    this.loseLease();
    this.view.lose(error);
    this.listening.end();
    reportLoss(this.deps, error);
    this.inbox.lose(error);
    this.watchers.lost(error);
    this.date.setAfterFault(this.watchers.size > 0 && !this.isDisposed);
  }

  /** Nothing to do at once: tell the watchers, and see what will move the session next. */
  private settle(): void {
    this.view.rest();
    this.watchers.settled(this.state);
    this.attend();
    // A retry is its owner's to wait for: whoever else woke up for it would find nothing to do, again and again.
    const isWaitedFor = this.isOwner || isAtRest(this.state);
    this.date.set(this.drives && !this.view.tooNew && isWaitedFor ? this.state : emptyState);
  }

  private attend(): void {
    const isWatched = this.watchers.size > 0;
    this.listening.attend({ isOwner: this.isOwner, isWatched, mayTakeOver: this.drives && !this.view.tooNew && !isAtRest(this.state) });
  }

  private onDate(): void {
    const late = lateOffer(this.state, this.deps.clock.now());
    if (late) this.offer(late).catch(() => {});
    else this.kick();
  }
}
