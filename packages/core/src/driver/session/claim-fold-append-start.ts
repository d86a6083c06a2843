/*
 * Owns: one decision of a session: claim the session if it needs an owner, fold what arrived, prepare the planned effects, append one batch, launch.
 * Does not own: when a decision is made (the driver), the consequences of an append's outcome (handle-append-outcome).
 */
import type { AgentError } from "../../errors.ts";
import { isAtRest, type State } from "../../loop/state.ts";
import { andThen, type SyncOrAsync } from "../effects/sync-or-async.ts";
import type { LogView } from "../log/log-view.ts";
import type { Ownership } from "../ownership/claim-and-release.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import type { Deps } from "../setup/session-deps.ts";
import { type BatchDecision, isForLog, releasesLease } from "./batch-decision.ts";
import { BatchWriter, type BatchWriterHost } from "./handle-append-outcome.ts";
import type { Inbox } from "./inbox.ts";
import { beginPendingBatch } from "./pending-batch.ts";
import type { SessionPhase } from "./session-phase.ts";
import type { WakeSources } from "./wake-up-sources.ts";
import type { WorkUnderLease } from "./work-under-lease.ts";

/** The parts of the session that decisions use. */
export interface DeciderHost extends BatchWriterHost {
  readonly phase: SessionPhase;
  /** True if there are subscribers: then open runs are continued. */
  readonly isWatched: boolean;
  /** Settled when the last release of a lease has reached the store. */
  readonly released: Promise<void> | undefined;
  /** Called when a newer version has continued the log, so nothing can be decided here. */
  giveUp(tooNew: AgentError): void;
}

export interface DeciderParts {
  readonly session: DeciderHost;
  readonly view: LogView;
  readonly inbox: Inbox;
  readonly ownership: Ownership;
  readonly work: WorkUnderLease;
  readonly sources: WakeSources;
}

export class Decider {
  readonly #deps: Deps;
  readonly #parts: DeciderParts;
  readonly #writer: BatchWriter;

  constructor(deps: Deps, parts: DeciderParts) {
    this.#deps = deps;
    this.#parts = parts;
    this.#writer = new BatchWriter(deps, parts);
  }

  get #state(): State {
    return this.#parts.view.state;
  }

  get #isOwner(): boolean {
    return this.#parts.ownership.lease !== undefined;
  }

  /** Makes one decision: from everything that arrived to one batch. False when there is no work now. @throws AgentError when this process has lost the log */
  async decide(): Promise<boolean> {
    const { session, view, inbox, ownership } = this.#parts;
    if (view.tooNew) {
      session.giveUp(view.tooNew);
      return false;
    }
    if (ownership.lease?.isConfirmed === false) await ownership.lease.confirm();
    if (!this.#isOwner) {
      const claims = this.#wantsOwnership();
      if (inbox.length === 0 && !claims) return false;
      if (claims) await this.#claim();
    }
    // The facts of an offer depend on what other processes have recorded; only an owner knows all of it.
    if (!this.#isOwner) await view.refresh();
    const made = this.#makeDecision();
    const decision = made instanceof Promise ? await made : made;
    if (!decision) return session.phase.name !== "disposed";
    if (isForLog(decision, this.#state)) {
      if (!(await this.#writer.write(decision))) return true;
      acknowledge(decision);
      if (!this.#launched(decision)) await this.#launchOnceSure(decision);
      return this.#mayFollow(decision);
    }
    acknowledge(decision);
    if (!this.#launched(decision)) await this.#launchOnceSure(decision);
    if (decision.rests) {
      const released = ownership.release();
      session.signal("lease-released");
      await released;
    }
    return inbox.isAlone || decision.launches.length > 0 || decision.accepted.length > 0;
  }

  /** True if another decision may follow at once. False while effects run and nothing else has arrived: the end of an effect wakes the loop. */
  #mayFollow({ pending, lease }: BatchDecision): boolean {
    const { session, view, inbox, work } = this.#parts;
    const isWorking = lease !== undefined && session.phase.name === "owning" && work.count > 0 && !isAtRest(this.#state);
    const hasLeftOver = inbox.length > 0 || inbox.isAlone || view.isBehind || pending.facts.length > driverLimits.factsPerBatch / 2;
    return !isWorking || hasLeftOver;
  }

  #wantsOwnership(): boolean {
    const { session, inbox, ownership } = this.#parts;
    if (!session.phase.mayOwn) return false;
    return inbox.needsOwner || (session.isWatched && !isAtRest(this.#state) && ownership.mayClaim);
  }

  async #claim(): Promise<void> {
    const { session, view, ownership, sources } = this.#parts;
    sources.beginOwner();
    const lastSeq = await ownership.claim();
    if (this.#isOwner) session.signal("claimed");
    if (session.phase.name === "disposed") await session.released;
    else if (lastSeq !== undefined && lastSeq > this.#state.seq) await view.read();
  }

  #makeDecision(): SyncOrAsync<BatchDecision | undefined> {
    const { session, inbox, ownership, work } = this.#parts;
    const { clock, node, leaseMs, sessionId } = this.#deps;
    const { lease } = ownership;
    const pending = beginPendingBatch(this.#state, { sessionId, now: clock.now(), epoch: lease?.epoch });
    if (lease && lease.epoch > this.#state.epoch) pending.add({ type: "owner.claimed", node, leaseMs });
    const accepted = inbox.accept(pending);
    const mayLaunch = session.phase.name === "owning" && !inbox.isAlone;
    const launches = mayLaunch ? work.prepareOwed(pending) : [];
    return andThen(launches, (prepared) => this.#judge({ pending, accepted, launches: prepared, lease }));
  }

  /** `undefined`: the lease was lost meanwhile, so the decision under it is void (D4). */
  #judge(parts: Omit<BatchDecision, "rests">): BatchDecision | undefined {
    const { session, inbox, ownership, work } = this.#parts;
    const phase = session.phase.name;
    if (phase !== "disposed" && ownership.lease === parts.lease)
      return { ...parts, rests: releasesLease(parts, { inbox, running: work.count, phase }) };
    inbox.putBack(parts.accepted, { isOwner: this.#isOwner });
    return undefined;
  }

  /** Launches the effects when the log has their intents. False: the log or the lease must be checked first. */
  #launched({ launches, lease }: BatchDecision): boolean {
    const { session, view, inbox, ownership, work } = this.#parts;
    if (launches.length === 0 || !lease || ownership.lease !== lease) return true;
    if (view.isBehind || !lease.isConfirmed) return false;
    const now = { state: this.#state, isStopped: inbox.stopsRun(this.#state) };
    for (const launch of launches) launch(now);
    // The hand-over was requested while the intents of these effects were appended.
    if (session.phase.name === "leaving") work.end();
    return true;
  }

  /** Launches after new checks: an offer that arrived during the append may stop the run, the process may have paused, and others may have appended. */
  async #launchOnceSure(decision: BatchDecision): Promise<void> {
    const { view, ownership } = this.#parts;
    const { lease } = decision;
    do {
      if (view.isBehind) await view.read();
      else await lease?.confirm();
    } while (ownership.lease === lease && !this.#launched(decision));
  }
}

function acknowledge({ accepted }: BatchDecision): void {
  for (const offer of accepted) offer.resolve();
}
