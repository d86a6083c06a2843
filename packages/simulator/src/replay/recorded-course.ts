/*
 * Owns: how far the new log has come beside the recorded one, and what waits for which place.
 * Does not own: what is written (replay-store), what comes from outside (replay-session).
 */
import type { Fact } from "@loopwright/core";
import { type Divergence, differingMembers } from "./divergence.ts";

/** Facts that people, clients, clocks and other packages give a session: the replay takes them from the log. */
const givenTypes: ReadonlySet<string> = new Set([
  "session.opened",
  "session.changed",
  "input.accepted",
  "client.answered",
  "approval.decided",
  "abort.requested",
  "head.moved",
  "schedule.set",
  "schedule.cleared",
  "hold.changed",
  "note.recorded",
  "session.closed",
  "owner.claimed",
]);

/** True if the runtime does not derive the fact from those before it. */
export const isGiven = (fact: Fact): boolean => givenTypes.has(fact.type);

/** The recorded log, and how much of it the new one has. */
export class RecordedCourse {
  readonly facts: readonly Fact[];
  /** Where the new log stops being the recorded one. */
  divergence: Divergence | undefined;
  /** Rises with everything that happens, so that a standstill can be recognised. */
  activity = 0;
  #position = 0;
  readonly #waiting = new Map<number, (() => void)[]>();

  constructor(facts: readonly Fact[]) {
    this.facts = facts;
  }

  /** Facts that both logs have. */
  get position(): number {
    return this.#position;
  }

  /** The recorded fact that comes next. */
  get next(): Fact | undefined {
    return this.facts[this.#position];
  }

  /** The wall clock: the time of the fact that comes next. */
  get nowMs(): number {
    return (this.next ?? this.facts.at(-1))?.at ?? 0;
  }

  /** How facts differ from those that come next; `undefined`: they do not. */
  compare(facts: readonly Fact[]): Divergence | undefined {
    for (const [at, replayed] of facts.entries()) {
      const recorded = this.facts[this.#position + at];
      if (!recorded) return undefined;
      const members = differingMembers(recorded, replayed);
      if (members.length > 0) return { seq: recorded.seq, recorded, replayed, members };
    }
    return undefined;
  }

  /** The new log has so many facts more. */
  advance(count: number): void {
    this.#position += count;
    this.activity += 1;
    for (const [seq, resolves] of this.#waiting)
      if (seq <= this.#position + 1) {
        this.#waiting.delete(seq);
        for (const resolve of resolves) resolve();
      }
  }

  /** Resolves when the fact of this number comes next. */
  reached(seq: number): Promise<void> {
    if (seq <= this.#position + 1) return Promise.resolve();
    return new Promise((resolve) => void this.#waiting.set(seq, [...(this.#waiting.get(seq) ?? []), resolve]));
  }

  /** Resolves when what led to this fact may happen: it comes next, or what is before it comes from outside, or was recorded at the same time. */
  led(fact: Fact): Promise<void> {
    return this.reached(this.#beginning(fact));
  }

  /** Resolves when the effect may end whose end is this fact: before an abort that comes first, unless that has ended it. */
  mayEnd(end: Fact & { readonly runId: string }, isAborted = false): Promise<void> {
    const abort = this.facts.slice(this.#position, end.seq - 1).find((fact) => fact.type === "abort.requested" && fact.runId === end.runId);
    const beginning = this.#beginning(end);
    if (!abort) return this.reached(beginning);
    return this.reached(isAborted ? Math.max(abort.seq + 1, beginning) : Math.min(abort.seq, beginning));
  }

  /** The number after that of the last fact before this one that the runtime derived at another time. */
  #beginning({ seq, at }: Fact): number {
    for (let before = seq - 1; before > 0; before--) {
      const fact = this.facts[before - 1];
      if (fact && (fact.type === "owner.claimed" || (!isGiven(fact) && fact.at !== at))) return before + 1;
    }
    return 1;
  }

  /** The first of the facts that follow, before another process takes the session over. */
  ahead<T extends Fact>(isWanted: (fact: Fact) => fact is T): T | undefined {
    for (let at = this.#position; at < this.facts.length; at++) {
      const fact = this.facts[at];
      if (!fact || fact.type === "owner.claimed") return undefined;
      if (isWanted(fact)) return fact;
    }
    return undefined;
  }

  /**
   * How many of so many facts of one process come before another one takes over, or the log ends. What the process had begun after them was lost with it.
   */
  countBeforeTakeOver(count: number): number {
    for (let at = 0; at < count; at++) {
      const rest = this.facts.slice(this.#position + at);
      const derived = rest.findIndex((fact) => !isGiven(fact));
      const claimed = rest.findIndex(({ type }) => type === "owner.claimed");
      if (derived < 0 || (claimed >= 0 && claimed < derived)) return at;
    }
    return count;
  }
}
