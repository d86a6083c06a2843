/*
 * Owns: the hall of one session: fold what came, plan, prepare what is owed, append once, adopt, publish, signal, launch.
 * Does not own: what follows (loop), how an effect runs (effects), who listens (hub).
 * Invariants
 *  D1 nothing is published, launched or acknowledged before the log has it;
 *  D2 one batch per decision, one decision at a time;
 *  D3 whatever goes wrong with the log, the driver behaves as if its process had died: it drops all and reads again;
 *  D4 a decision is written and launched under the lease that it was made under, or not at all.
 */
import type { AgentError } from "../errors.ts";
import type { DurableEvent, EphemeralEvent } from "../loop/event.ts";
import type { Fact } from "../loop/fact.ts";
import { emptyState, isAtRest, type State } from "../loop/state.ts";
import { createRequestBuilder, type RequestBuilder } from "../prompt/request-builder.ts";
import { createToolRegistry } from "../tools/tool-registry.ts";
import { type BatchDecision, isForLog } from "./batch-decision.ts";
import { type Committed, commitBatch, storeError } from "./commit.ts";
import { createDateTimer, type DateTimer, dueOf, expiredCalls } from "./dates.ts";
import type { Deps } from "./deps.ts";
import { createDrafts, type Drafts } from "./drafts.ts";
import { createEffects, type Effects } from "./effects.ts";
import { createGather } from "./gather.ts";
import { createHub, type Hub } from "./hub.ts";
import { createInbox, type Inbox, type Offer, type WaitingOffer } from "./inbox.ts";
import { createListening, type Listening } from "./listening.ts";
import { openLanes } from "./open-lanes.ts";
import { createOwnership, type Ownership } from "./ownership.ts";
import { createPreparing, type Preparing } from "./preparing.ts";
import { readNews } from "./read-news.ts";
import { handleLetGo, historyLost, sessionClosed, storeConflict, storeFull } from "./session-errors.ts";
import { driverLimits } from "./session-options.ts";
import { catchUp, type Speculation, speculate } from "./speculation.ts";
import { createWatchers, type Watcher } from "./watchers.ts";

export class SessionDriver {
  readonly hub: Hub;
  readonly builder: RequestBuilder = createRequestBuilder();
  private readonly deps: Deps;
  private readonly effects: Effects;
  private readonly preparing: Preparing;
  private readonly inbox: Inbox = createInbox();
  private readonly listening: Listening;
  private readonly drafts: Drafts;
  private readonly watchers = createWatchers();
  private current: State = emptyState;
  private lostState: State | undefined;
  private recovered = false;
  private loading: Promise<void> | undefined;
  private readonly own: Ownership;
  private isPumping = false;
  private isDisposed = false;
  /** Nothing was appended by others since this was set, as far as anybody can know. */
  private isFresh = false;
  /** Conflicts in a row after which nothing new was to be read. */
  private emptyConflicts = 0;
  /** Seq up to which the log is known to reach. */
  private tailSeq = 0;
  /** What is read up to here is no news: it was told, or is older than this handle. */
  private oldSeq = Number.POSITIVE_INFINITY;
  private readonly date: DateTimer;
  private readonly gather: () => void;

  constructor(deps: Deps) {
    this.deps = deps;
    const { channel, ref } = deps;
    const outward = channel && ((events: readonly EphemeralEvent[]): void => channel.publish(ref, events));
    this.hub = createHub(outward);
    this.drafts = createDrafts(deps, () => this.hub.snapshots());
    const close = (body: Parameters<typeof this.closeEffect>[0]): Promise<void> => this.closeEffect(body);
    this.effects = createEffects({
      deps,
      registry: createToolRegistry(deps.agent.tools),
      builder: this.builder,
      hub: this.hub,
      current: () => this.current,
      close,
    });
    this.preparing = createPreparing({ effects: this.effects, clock: deps.clock, onReady: () => this.kick() });
    this.gather = createGather(deps.clock, () => this.look());
    this.own = createOwnership(deps, () => {
      this.loseLease();
      this.kick();
    });
    this.date = createDateTimer(deps.clock, () => this.onDate());
    const { hub } = this;
    const onTail = (seq: number | undefined): void => this.onTail(seq);
    this.listening = createListening(deps, { deps, hub, current: () => this.current, onTail, isOwner: () => this.isOwner });
  }

  get state(): State {
    return this.current;
  }

  /** A run was open when the log was read, and has not rested since: whoever ran it may have died. */
  get wasRecovered(): boolean {
    return this.recovered;
  }

  /** The state that was lost with the store, until it can be read again. */
  get staleState(): State | undefined {
    return this.current.seq === 0 ? this.lostState : undefined;
  }

  get isOwner(): boolean {
    return this.own.lease !== undefined;
  }

  /** A run that was cut off is being gone on with here: its owner is gone. */
  get isRecovering(): boolean {
    return this.recovered && this.isOwner;
  }

  /** Reads the log, once. @throws AgentError SESSION_CORRUPT, SESSION_TOO_NEW, STORE_* */
  load(): Promise<void> {
    this.loading ??= this.readTail().then(
      () => {
        this.recovered = !isAtRest(this.current);
        this.oldSeq = 0;
        this.lostState = undefined;
      },
      (error: unknown) => {
        this.loading = undefined;
        throw storeError(error);
      },
    );
    return this.loading;
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
    this.listening.end();
    const released = this.own.release();
    this.loseLease();
    this.inbox.refuseAll(handleLetGo());
    this.watchers.lost(handleLetGo());
    await released;
  }

  private async pump(): Promise<void> {
    this.isPumping = true;
    this.isFresh = false;
    let isLost = false;
    try {
      // Watched before it is read. Where it was read before that, others may have appended in between.
      if (this.watchers.size > 0 && this.listening.begin() && this.loading) this.tailSeq = Number.MAX_SAFE_INTEGER;
      await this.load();
      do {
        if (this.tailSeq > this.current.seq) await this.readTail();
      } while (!this.isDisposed && (await this.decide()));
    } catch (error) {
      isLost = true;
      this.lose(storeError(error));
    }
    this.isPumping = false;
    if (this.isDisposed) this.inbox.refuseAll(handleLetGo());
    if (this.isDisposed || isLost) return;
    if (this.inbox.length > 0 || this.tailSeq > this.current.seq) this.kick();
    else this.settle();
  }

  /** One decision: from what came to one batch. False when nothing is left to do now. */
  private async decide(): Promise<boolean> {
    const isMine = this.own.lease !== undefined;
    const wantsOwner = this.deps.drives && (this.inbox.needsOwner || (this.watchers.size > 0 && !isAtRest(this.current)));
    if (this.inbox.length === 0 && !isMine && !wantsOwner) return false;
    if (!isMine && wantsOwner) await this.claim();
    // What there is to say to an offer depends on what others did: only an owner knows all of it.
    if (!this.own.lease && !this.isFresh) await this.readTail();
    const { clock, node, leaseMs, sessionId } = this.deps;
    const speculation = speculate(this.current, { sessionId, now: clock.now(), epoch: this.own.lease?.epoch });
    const { lease } = this.own;
    if (lease && lease.epoch > this.current.epoch) speculation.add({ type: "owner.claimed", node, leaseMs });
    const accepted = this.inbox.accept(speculation);
    const launches = lease ? await this.preparing.prepareOwed(speculation) : [];
    if (this.isDisposed || this.own.lease !== lease) {
      this.putBack(accepted);
      return !this.isDisposed;
    }
    const ending = accepted.filter((offer) => offer.isClosing).length;
    const rests =
      lease !== undefined &&
      launches.length === 0 &&
      this.effects.count <= ending &&
      this.inbox.length === 0 &&
      isAtRest(speculation.state);
    const decision: BatchDecision = { speculation, accepted, launches, lease, rests };
    if (isForLog(decision, this.current)) return this.conclude(await this.append(decision), decision);
    this.finish(decision);
    if (rests) await this.own.release();
    return launches.length > 0 || accepted.length > 0;
  }

  private append({ speculation, lease, rests }: BatchDecision): Promise<Committed> {
    const claim = lease ? { epoch: lease.epoch, ...(rests ? { release: true } : {}) } : {};
    const { facts, state } = speculation;
    const request = { expectedSeq: this.current.seq, batchId: this.deps.ids.next(), facts, due: dueOf(state), ...claim };
    return commitBatch(this.deps, request);
  }

  private async conclude(outcome: Committed, decision: BatchDecision): Promise<boolean> {
    switch (outcome.type) {
      case "ok":
      case "dup":
        if (decision.rests) this.own.drop();
        this.emptyConflicts = 0;
        this.adopt(decision.speculation.state, decision.speculation.events);
        this.deps.channel?.publish(this.deps.ref, decision.speculation.events);
        this.finish(decision);
        return true;
      case "conflict":
        if (outcome.actualSeq < this.current.seq) throw historyLost(this.deps.sessionId, outcome.actualSeq);
        this.putBack(decision.accepted);
        await this.readTail();
        // The log says that others were faster, and shows nothing of them.
        if (this.current.seq === decision.speculation.from && ++this.emptyConflicts > driverLimits.conflictsMax) throw storeConflict();
        return true;
      case "fenced":
        this.loseLease();
        this.putBack(decision.accepted);
        await this.readTail();
        return true;
      case "closed": {
        const error = sessionClosed(this.deps.sessionId);
        for (const offer of decision.accepted) offer.reject(error);
        await this.readTail();
        if (this.current.status !== "closed") throw error; // Removed before anything of it was read.
        return true;
      }
      case "full":
        for (const offer of decision.accepted) offer.reject(storeFull());
        throw storeFull();
      default:
        return outcome satisfies never;
    }
  }

  /** Acknowledges and launches, once the log has it. */
  private finish({ accepted, launches, lease }: BatchDecision): void {
    for (const offer of accepted) offer.resolve();
    if (this.own.lease === lease) for (const launch of launches) launch(this.current);
  }

  /** Offers of a decision that was not written wait for the next one; closing facts are void without the lease. */
  private putBack(offers: readonly WaitingOffer[]): void {
    this.inbox.putBack(offers);
    if (!this.own.lease) this.inbox.dropClosings();
  }

  private adopt(state: State, events: readonly DurableEvent[]): void {
    const { seq } = this.current;
    this.current = state;
    this.effects.heed(state);
    this.hub.publish(events);
    this.drafts.heed(this.isOwner && openLanes(state).length > 0);
    this.listening.heed(state, Math.max(seq, Math.min(this.oldSeq, state.seq)));
  }

  /** Folds and publishes what others appended. */
  private async readTail(): Promise<void> {
    this.tailSeq = 0;
    const facts = await readNews(this.deps, this.current.seq);
    this.isFresh = true;
    if (facts.length === 0) return;
    const { state, events } = catchUp(this.current, facts, this.deps.sessionId);
    if (this.own.lease && state.epoch > this.own.lease.epoch) this.loseLease();
    const news = events.filter(({ seq }) => seq > this.oldSeq);
    this.adopt(state, news);
  }

  private onTail(seq: number | undefined): void {
    // 0: it was removed. Nothing: who knows.
    this.tailSeq = Math.max(this.tailSeq, seq || Number.MAX_SAFE_INTEGER);
    if (this.tailSeq > this.current.seq) this.look();
  }

  private async claim(): Promise<void> {
    this.listening.beginOwner();
    const lastSeq = await this.own.claim();
    if (this.isOwner) this.attend();
    if (this.isDisposed) await this.own.release();
    else if (lastSeq !== undefined && lastSeq > this.current.seq) await this.readTail();
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
    this.loseLease();
    this.loading = undefined;
    if (this.oldSeq === 0) this.oldSeq = this.current.seq;
    if (this.current.seq > 0 || !error.retryable) this.lostState = error.retryable ? this.current : undefined;
    this.current = emptyState;
    this.tailSeq = 0;
    this.listening.end();
    const level = error.code === "SESSION_CLOSED" ? "info" : "error";
    this.deps.logger.log(level, error.message, { code: error.code, session: this.deps.sessionId });
    this.inbox.lose(error);
    this.watchers.lost(error);
    this.date.setAfterFault(this.watchers.size > 0 && !this.isDisposed);
  }

  /** Effects that end in the same moment are decided on together: one batch, not one for each. */
  private closeEffect(body: Parameters<Speculation["add"]>[0]): Promise<void> {
    const offer: Offer = { bodies: () => [body], needsOwner: true, isClosing: true };
    const isAlone = this.effects.count < 2 || this.isDisposed;
    if (!isAlone) this.gather();
    const done = isAlone ? this.offer(offer) : this.inbox.put(offer);
    return done.then(
      () => {},
      () => {},
    );
  }

  /** Nothing to do at once: tell the watchers, and see what will move the session next. */
  private settle(): void {
    if (isAtRest(this.current)) this.recovered = false;
    this.watchers.settled(this.current);
    this.attend();
    this.date.set(this.deps.drives ? this.current : emptyState);
  }

  private attend(): void {
    const isWatched = this.watchers.size > 0;
    this.listening.attend({ isOwner: this.isOwner, isWatched, mayTakeOver: this.deps.drives && !isAtRest(this.current) });
  }

  private onDate(): void {
    const now = this.deps.clock.now();
    const isLate = expiredCalls(this.current, now).length > 0;
    if (isLate) this.offer({ bodies: (state) => expiredCalls(state, now), needsOwner: true }).catch(() => {});
    else this.kick();
  }
}
