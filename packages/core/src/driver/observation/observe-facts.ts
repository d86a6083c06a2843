/*
 * Owns: when observers are notified of which facts: of each batch that this handle appended; after a claim, first of facts that may be unobserved.
 * Does not own: the observers' errors (observer-calls).
 * Invariants
 *  O1 facts of this handle are observed after their append, in the order of `seq`;
 *  O2 a fact is observed at least once if a later owner claims the session, unless the process that appended it and that owner end too soon;
 *  O3 each process that completes the removal of a session observes the end of the session first.
 */
import type { Fact } from "../../loop/fact.ts";
import type { State } from "../../loop/state.ts";
import { readPages } from "../log/read-event-history.ts";
import type { Observation } from "../setup/observer-calls.ts";
import type { Deps } from "../setup/session-deps.ts";
import { reportThrown } from "../setup/user-code-errors.ts";

/** The most facts that are repeated after a claim, and how many are read first. */
const repeatedMax = 4_096;
const firstLook = 64;

interface Batch {
  readonly facts: readonly Fact[];
  readonly state: State;
}

export class FactObservation {
  readonly #deps: Deps;
  readonly #observation: Observation;
  /** The first and the last seq of the facts that this handle has appended without a gap. */
  #from = 0;
  #to = 0;
  /** The seq of the last claim of this handle. */
  #claim = 0;
  /** Batches that wait until the facts before them are read; `undefined`: no batch has to wait. */
  #waiting: Batch[] | undefined;

  constructor(deps: Deps, observation: Observation) {
    this.#deps = deps;
    this.#observation = observation;
  }

  /** Called with each batch of this handle once the log has it. */
  appended(batch: Batch): void {
    const [first] = batch.facts;
    if (!first) return;
    const claim = batch.facts.find(({ type }) => type === "owner.claimed");
    const isOwn = this.#claim > 0 && this.#from <= this.#claim && this.#to === first.seq - 1;
    const gapAt = claim && !isOwn && first.seq > 1 ? first.seq : undefined;
    if (this.#to !== first.seq - 1 || this.#from === 0) this.#from = first.seq;
    this.#to = batch.facts.at(-1)?.seq ?? this.#to;
    this.#claim = claim?.seq ?? this.#claim;
    if (this.#waiting) this.#waiting.push(batch);
    else if (gapAt === undefined) this.#observe(batch);
    else {
      this.#waiting = [batch];
      void this.#repeat(gapAt, batch.state);
    }
  }

  #observe({ facts, state }: Batch): void {
    this.#observation.facts(facts, state);
  }

  /** Observes the facts that the previous owner may not have observed, then those that were appended meanwhile. */
  async #repeat(before: number, state: State): Promise<void> {
    try {
      const facts = await this.#sinceClaim(before);
      if (facts.length > 0) this.#observe({ facts, state });
    } catch (error) {
      reportThrown(this.#deps, "Facts could not be read again for the observers.", error);
    }
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const batch of waiting) this.#observe(batch);
  }

  /** The facts before a seq, beginning with the last claim. */
  async #sinceClaim(before: number): Promise<readonly Fact[]> {
    for (let look = firstLook; ; look *= 4) {
      const from = Math.max(1, before - Math.min(look, repeatedMax));
      const facts: Fact[] = [];
      for await (const page of readPages(this.#deps, from)) {
        facts.push(...page.filter(({ seq }) => seq < before));
        if ((page.at(-1)?.seq ?? before) >= before - 1) break;
      }
      const claim = facts.findLastIndex(({ type }) => type === "owner.claimed");
      if (claim >= 0) return facts.slice(claim);
      if (from === 1 || look >= repeatedMax) return facts;
    }
  }
}

/** `undefined` if no observer has asked for facts. */
export const observeFacts = (deps: Deps): FactObservation | undefined =>
  deps.observation?.wantsFacts ? new FactObservation(deps, deps.observation) : undefined;

/**
 * Observes the last fact of a closed session again, before its log is removed: the process that appended this fact may have ended before its observers
 * had it, or may not know yet that the log has it.
 */
export async function repeatLastFact(deps: Deps, state: State): Promise<void> {
  if (!deps.observation?.wantsFacts) return;
  try {
    for await (const facts of readPages(deps, state.seq)) deps.observation.facts(facts, state);
  } catch (error) {
    reportThrown(deps, "The end of a session could not be read again for the observers.", error);
  }
}
