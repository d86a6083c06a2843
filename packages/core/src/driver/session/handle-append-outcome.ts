/*
 * Owns: the append of one decision, and the consequences of each outcome for its offers and for the lease.
 * Does not own: retries of the append (append-batch), the launch of effects after it (claim-fold-append-start).
 */

import type { Fact } from "../../loop/fact.ts";
import { storedFacts, withoutSummaries } from "../log/apply-data-policy.ts";
import type { LogView } from "../log/log-view.ts";
import { type FactObservation, observeFacts } from "../observation/observe-facts.ts";
import type { Ownership } from "../ownership/claim-and-release.ts";
import { dueAfter } from "../ownership/due-dates.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import type { Deps } from "../setup/session-deps.ts";
import { historyLost, sessionClosed, storeConflict, storeFull } from "../setup/session-errors.ts";
import { type AppendedBatch, appendBatch } from "./append-batch.ts";
import type { BatchDecision } from "./batch-decision.ts";
import type { Inbox } from "./inbox.ts";

/** The parts of the session that a writer uses. */
export interface BatchWriterHost {
  /** How long the store may be unavailable before the batch is given up, in milliseconds. */
  readonly outageMs: number;
  signal(signal: "claimed" | "lease-released" | "lease-lost"): void;
}

export interface BatchWriterParts {
  readonly session: BatchWriterHost;
  readonly view: LogView;
  readonly inbox: Inbox;
  readonly ownership: Ownership;
}

export class BatchWriter {
  readonly #deps: Deps;
  readonly #parts: BatchWriterParts;
  /** Consecutive conflicts after which the log had no new facts. */
  #emptyConflicts = 0;
  readonly #observation: FactObservation | undefined;

  constructor(deps: Deps, parts: BatchWriterParts) {
    this.#deps = deps;
    this.#parts = parts;
    this.#observation = observeFacts(deps);
  }

  /**
   * True when the log has the batch, which is then adopted and published. False: its offers wait in the inbox again, or were refused.
   * @throws AgentError when the log is lost to this process
   */
  async write(decision: BatchDecision): Promise<boolean> {
    const stored = this.#storedOf(decision);
    const outcome = await this.#append(decision, stored);
    const { session, view, inbox, ownership } = this.#parts;
    const { accepted, pending } = decision;
    switch (outcome.type) {
      case "ok":
      case "dup":
        this.#recorded(decision, stored);
        return true;
      case "conflict":
        if (outcome.actualSeq < view.state.seq) throw historyLost(this.#deps.sessionId, outcome.actualSeq);
        inbox.putBack(accepted, { isOwner: ownership.lease !== undefined });
        await view.read();
        // The log reports a conflict although it has no newer fact.
        if (view.state.seq === pending.from && ++this.#emptyConflicts > driverLimits.conflictsMax) throw storeConflict();
        return false;
      case "fenced":
        session.signal("lease-lost");
        inbox.putBack(accepted, { isOwner: false });
        await view.read();
        return false;
      case "closed": {
        const error = sessionClosed(this.#deps.sessionId);
        for (const offer of accepted) offer.reject(error);
        await view.read();
        if (view.state.status !== "closed") throw error; // The session was removed before it was read.
        return false;
      }
      case "refused":
        inbox.refused(accepted, outcome.error);
        return false;
      case "full":
        for (const offer of accepted) offer.reject(storeFull());
        throw storeFull();
      default:
        return outcome satisfies never;
    }
  }

  /** The facts as the agent's data policy lets them be stored. */
  #storedOf({ pending: { facts, state } }: BatchDecision): readonly Fact[] {
    const { view } = this.#parts;
    const stored = storedFacts(this.#deps.bound.agent, facts, [view.state, state]);
    return stored === facts && !view.holdsMore ? facts : withoutSummaries(stored);
  }

  #append({ pending, lease, rests }: BatchDecision, stored: readonly Fact[]): Promise<AppendedBatch> {
    const claim = lease ? { epoch: lease.epoch, ...(rests ? { release: true } : {}) } : {};
    const { state } = pending;
    const { session, view } = this.#parts;
    const request = { expectedSeq: view.state.seq, batchId: this.#deps.ids.next(), facts: stored, due: dueAfter(state), ...claim };
    return appendBatch({ ...this.#deps, staysFor: () => session.outageMs }, request);
  }

  #recorded({ pending, lease, rests }: BatchDecision, stored: readonly Fact[]): void {
    const { session, view, ownership } = this.#parts;
    if (rests) {
      ownership.drop();
      session.signal("lease-released");
    }
    this.#emptyConflicts = 0;
    const { state, events, bytes, facts } = pending;
    view.append({ state, events, bytes, ...(stored === facts ? {} : { stored }), facts }, lease !== undefined);
    this.#deps.channel?.publish(this.#deps.ref, pending.events);
    this.#observation?.appended(pending);
  }
}
