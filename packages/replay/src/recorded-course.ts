/*
 * Owns: how far the new log has come beside the recorded one, and what waits for which place.
 * Does not own: what is written (replay-store), what comes from outside (replay-session).
 */
import type { Fact, FactOf } from "@loopwright/core";
import { type Divergence, dependsOnWords, differingMembers } from "./divergence.ts";

/** Facts that people, clients, clocks, children and other packages give a session: the replay takes them from the log. */
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
  // Which child user code starts is what the code did, as the output of a tool is; what the child does is in a log of its own.
  "child.linked",
  "child.waiting",
  "child.finished",
  "session.closed",
  "owner.claimed",
]);

/** True if the runtime does not derive the fact from those before it. */
export const isGiven = (fact: Fact): boolean => givenTypes.has(fact.type);

/** The end of a model call or of a tool. */
type EffectEnd = FactOf<"model.finished"> | FactOf<"model.failed"> | FactOf<"tool.finished">;

const isEffectEnd = (fact: Fact): fact is EffectEnd =>
  fact.type === "model.finished" || fact.type === "model.failed" || fact.type === "tool.finished";

/** True for facts of the process that owned the session. */
const isOwn = ({ epoch }: Fact): boolean => epoch !== undefined;

interface Waiting {
  readonly seq: number;
  /** The number of the fact to which it leads. */
  readonly own: number;
  readonly resolve: () => void;
}

/** The recorded log, and how much of it the new one has. */
export class RecordedCourse {
  readonly facts: readonly Fact[];
  /** Where the new log stops being the recorded one. */
  divergence: Divergence | undefined;
  /** Rises with everything that happens, so that a standstill can be recognised. */
  activity = 0;
  #position = 0;
  readonly #waiting: Waiting[] = [];
  #isReleasing = false;
  /** The ends of effects, by the number of their fact, that were given. */
  readonly #ended = new Set<number>();

  readonly #isRedacted: boolean;

  constructor(facts: readonly Fact[], isRedacted = false) {
    this.facts = facts;
    this.#isRedacted = isRedacted;
  }

  /** Facts that both logs have. */
  get position(): number {
    return this.#position;
  }

  /** The recorded fact that comes next. */
  get next(): Fact | undefined {
    return this.facts[this.#position];
  }

  /**
   * The wall clock of the process: the time of the fact that comes next, but not outside the times of its own facts before and after. Others write by clocks of
   * their own, which may be days off.
   */
  get nowMs(): number {
    return this.#timeOf(this.#position);
  }

  /** How facts differ from those that come next; `undefined`: they do not. */
  compare(facts: readonly Fact[]): Divergence | undefined {
    for (const [at, replayed] of facts.entries()) {
      const recorded = this.facts[this.#position + at];
      if (!recorded) return undefined;
      const members = differingMembers(recorded, replayed).filter((name) => !this.#isRedacted || !dependsOnWords(name, recorded));
      if (members.length > 0) return { seq: recorded.seq, recorded, replayed, members };
    }
    return undefined;
  }

  /** The new log has so many facts more. */
  advance(count: number): void {
    this.#position += count;
    this.activity += 1;
    this.#release();
  }

  /** Resolves when the fact of this number comes next. Of those that wait, the one whose own fact is first in the log is released first, and has a turn to itself. */
  reached(seq: number, own: number = seq): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ seq, own, resolve });
      this.#release();
    });
  }

  #release(): void {
    if (this.#isReleasing || this.#ready().length === 0) return;
    this.#isReleasing = true;
    this.activity += 1;
    setImmediate(() => {
      this.#isReleasing = false;
      const first = this.#ready().reduce((one, other) => (other.own < one.own ? other : one));
      this.#waiting.splice(this.#waiting.indexOf(first), 1);
      this.activity += 1;
      first.resolve();
      this.#release();
    });
  }

  #ready(): readonly Waiting[] {
    return this.#waiting.filter(({ seq }) => seq <= this.#position + 1);
  }

  /** Resolves when what led to this fact may happen: it comes next, or what is before it comes from outside, or was recorded at the same time. */
  led(fact: Fact): Promise<void> {
    return this.reached(this.#beginning(fact), fact.seq);
  }

  /** Resolves when the effect may end whose end is this fact: on the side of an abort on which it ended. */
  async mayEnd(end: EffectEnd): Promise<void> {
    const abort = this.facts.slice(this.#position, end.seq - 1).find((fact) => fact.type === "abort.requested" && fact.runId === end.runId);
    const beginning = this.#beginning(end);
    const isEarlier = abort && this.#endsBefore(end, abort);
    await this.reached(abort ? (isEarlier ? Math.min(abort.seq, beginning) : Math.max(abort.seq + 1, beginning)) : beginning, end.seq);
    this.#ended.add(end.seq);
  }

  /** True if an effect has yet to end before the abort is given. */
  isTooEarlyFor(abort: FactOf<"abort.requested">): boolean {
    for (const end of this.facts.slice(abort.seq)) {
      if (end.type === "owner.claimed" || end.type === "run.finished") return false;
      if (isEffectEnd(end) && end.runId === abort.runId && this.#endsBefore(end, abort) && !this.#ended.has(end.seq)) return true;
    }
    return false;
  }

  /** True if the effect ended before the abort, although its end was recorded after it. */
  #endsBefore(end: EffectEnd, abort: Fact): boolean {
    if (end.type === "model.failed") return end.failure.code !== "HANDED_OVER";
    if (end.type === "model.finished") return end.message.stopReason !== "aborted";
    if (end.durationMs === undefined || end.outcome === "aborted") return false;
    // An error after the abort would count as aborted.
    if (end.outcome === "error") return true;
    return this.#beginning(end) <= abort.seq + 1 && this.#endedMs(end, end.durationMs) <= this.#timeOf(abort.seq - 1);
  }

  /** When the work of a tool ended, which may be long before its result was recorded. */
  #endedMs({ seq, callKey }: FactOf<"tool.finished">, durationMs: number): number {
    const started = this.facts.slice(0, seq - 1).findLast((fact) => fact.type === "tool.started" && fact.callKey === callKey);
    return (started?.at ?? 0) + durationMs;
  }

  /** The time of the fact at the place, by the clock of the process that owned the session then. */
  #timeOf(place: number): number {
    const next = this.facts[place];
    const before = this.facts.slice(0, place).findLast(isOwn)?.at ?? 0;
    if (!next || isOwn(next)) return next?.at ?? this.facts.at(-1)?.at ?? 0;
    const after = this.facts.slice(place).find(isOwn)?.at ?? Number.POSITIVE_INFINITY;
    return Math.max(before, Math.min(next.at, after));
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
    return this.owned().find(isWanted);
  }

  /** The facts that follow, before another process takes the session over. */
  owned(): readonly Fact[] {
    const rest = this.facts.slice(this.#position);
    const claimed = rest.findIndex(({ type }) => type === "owner.claimed");
    return claimed < 0 ? rest : rest.slice(0, claimed);
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
