/*
 * Owns: the store as one process of a replay sees it: what the process appends is compared with the recorded log before it is written.
 * Does not own: which process may write (replay-session stops the one before).
 */
import type { Fact, FactOf } from "@loopwright/core";
import type { AppendOutcome, AppendRequest, SessionRef, SessionStore } from "@loopwright/core/ports";
import type { Divergence } from "./divergence.ts";
import { isGiven, type RecordedCourse } from "./recorded-course.ts";

export interface ReplayProcess {
  /** False: another process has taken over, so that nothing of this one is written. */
  isAlive: boolean;
}

export interface ReplayStoreOptions {
  readonly inner: SessionStore;
  /** The session that is replayed. */
  readonly ref: SessionRef;
  readonly course: RecordedCourse;
  readonly process: ReplayProcess;
  /** The epoch under which the recorded process wrote. */
  readonly epoch: number;
  /** Writes the given facts that come next. */
  readonly giveNext: () => Promise<void>;
  /** Rings what is due, and waits until nothing more happens. */
  readonly settle: () => Promise<void>;
}

/** How often a process may decide again before what it decides counts. */
const triesMax = 3;

export function replayStore(options: ReplayStoreOptions): SessionStore {
  const { inner, course, process, epoch } = options;
  const { log } = inner;
  const appends = new ComparedAppends(options);
  // A child of the session has a log of its own, which is not replayed with this one: whatever asks for it gets no answer.
  const own = <T>(ref: SessionRef, work: () => Promise<T>): Promise<T> => (ref.session === options.ref.session ? work() : never());
  return {
    ...inner,
    log: {
      append: (ref, request) => own(ref, () => appends.append(ref, request)),
      read: (ref, range) =>
        own(ref, () => {
          course.activity += 1;
          return log.read(ref, range);
        }),
      head: (ref) => own(ref, async () => ({ lastSeq: (await log.head(ref)).lastSeq, epoch })),
      async claim(ref, { node }) {
        course.activity += 1;
        if (!process.isAlive || ref.session !== options.ref.session) return { type: "held", node, remainingMs: 1 };
        return { type: "claimed", epoch, lastSeq: (await log.head(ref)).lastSeq };
      },
      renew: async () => process.isAlive,
      release: async () => {},
      due: async () => [],
      setDue: async () => {},
      remove: (ref) => log.remove(ref),
      ...(log.subscribe ? { subscribe: (ref, listener) => log.subscribe?.(ref, listener) ?? (() => {}) } : {}),
    },
  };
}

const never = (): Promise<never> => new Promise(() => {});

class ComparedAppends {
  readonly #options: ReplayStoreOptions;
  #tries = { at: -1, count: 0 };

  constructor(options: ReplayStoreOptions) {
    this.#options = options;
  }

  async append(ref: SessionRef, request: AppendRequest): Promise<AppendOutcome> {
    const { course, process, giveNext, settle } = this.#options;
    course.activity += 1;
    if (!process.isAlive) return this.#fenced();
    const { next } = course;
    if (request.expectedSeq === course.position && next && isWritable(next)) {
      await giveNext();
      // What else ended at that time is in the same batch.
      await settle();
    }
    if (request.expectedSeq !== course.position) return this.#conflict();
    const facts = request.facts as readonly Fact[];
    const own = facts.slice(0, course.countBeforeTakeOver(facts.length));
    const divergence = course.compare(own);
    if (divergence) return await this.#differs(ref, request, divergence);
    if (own.length < facts.length) process.isAlive = false;
    if (own.length === 0) return this.#fenced();
    const outcome = await this.#write(ref, request, own);
    while (own.some((fact) => wasStoppedBefore(fact, course)) && course.next && isWritable(course.next)) await giveNext();
    return process.isAlive ? outcome : this.#fenced();
  }

  /** The process decides again, as long as that may change what it decides; then the difference counts. */
  async #differs(ref: SessionRef, request: AppendRequest, divergence: Divergence): Promise<AppendOutcome> {
    const { course, process, giveNext, settle } = this.#options;
    const before = (request.facts as readonly Fact[]).slice(0, divergence.seq - 1 - course.position);
    // In the recorded batch the process took in a command here, before it decided on.
    if (divergence.recorded && isWritable(divergence.recorded) && before.length > 0 && !before.some(isIntent)) {
      await this.#write(ref, request, before);
      await giveNext();
      return this.#conflict();
    }
    if (this.#tries.at === course.position && this.#tries.count >= triesMax) {
      course.divergence ??= divergence;
      process.isAlive = false;
      return this.#fenced();
    }
    this.#tries = { at: course.position, count: this.#tries.at === course.position ? this.#tries.count + 1 : 1 };
    // Timers may be due, and more effects may have ended.
    await settle();
    return process.isAlive ? this.#conflict() : this.#fenced();
  }

  async #write(ref: SessionRef, { expectedSeq, batchId }: AppendRequest, facts: readonly Fact[]): Promise<AppendOutcome> {
    const outcome = await this.#options.inner.log.append(ref, { expectedSeq, batchId, facts });
    if (outcome.type === "ok") this.#options.course.advance(facts.length);
    return outcome;
  }

  #conflict(): AppendOutcome {
    return { type: "conflict", actualSeq: this.#options.course.position };
  }

  #fenced(): AppendOutcome {
    return { type: "fenced", currentEpoch: this.#options.epoch + 1 };
  }
}

/** An effect begins only with the batch that has its intent. */
const isIntent = ({ type }: Fact): boolean => type === "model.started" || type === "tool.started";

const isWritable = (fact: Fact): boolean => isGiven(fact) && fact.type !== "owner.claimed";

/** True for a call whose run was stopped between its intent and its beginning: its process saw the abort at once. */
function wasStoppedBefore(fact: Fact, course: RecordedCourse): boolean {
  if (fact.type !== "tool.started") return false;
  const end = course.ahead((each): each is FactOf<"tool.finished"> => each.type === "tool.finished" && each.callKey === fact.callKey);
  return end !== undefined && end.durationMs === undefined;
}
