import type { DurableEvent } from "../../loop/event.ts";
import { eventsOf } from "../../loop/events-of.ts";
import { type Fact, type FactBody, factVersion } from "../../loop/fact.ts";
import { fold } from "../../loop/fold.ts";
import { fits } from "../../loop/kinds/fact-kinds.ts";
import type { State } from "../../loop/state.ts";
import { weigh } from "../../message/json-bytes.ts";
import { durableEvents } from "../log/fold-read-facts.ts";

/**
 * A batch that the log does not have yet: its facts are folded into a state of its own, which the session takes over once the append has
 * succeeded. A batch that is dropped leaves nothing behind.
 */
export interface PendingBatch {
  /** Seq of the state that the batch began with. */
  readonly from: number;
  readonly state: State;
  readonly facts: readonly Fact[];
  readonly events: readonly DurableEvent[];
  /** An upper bound of the batch's bytes. */
  readonly bytes: number;
  /** Folds one more fact. `undefined`: the fact would change nothing, so it is left out. */
  add(body: FactBody): Fact | undefined;
}

/** How a batch begins. */
export interface PendingBatchOptions {
  readonly sessionId: string;
  readonly now: number;
  readonly epoch: number | undefined;
}

export function beginPendingBatch(from: State, options: PendingBatchOptions): PendingBatch {
  return new Batch(from, options);
}

/** A class, because a batch is made for each decision: an object literal with getters is slow, and takes 700 bytes. */
class Batch implements PendingBatch {
  readonly from: number;
  readonly facts: Fact[] = [];
  readonly events: DurableEvent[] = [];
  readonly #options: PendingBatchOptions;
  state: State;
  bytes = 0;

  constructor(from: State, options: PendingBatchOptions) {
    this.from = from.seq;
    this.state = from;
    this.#options = options;
  }

  add(body: FactBody): Fact | undefined {
    const { sessionId, now, epoch } = this.#options;
    const before = this.state;
    const own = { ...body, seq: before.seq + 1, at: now, v: factVersion };
    const fact: Fact = epoch === undefined ? own : Object.assign(own, { epoch });
    if (!fits(before, fact)) return undefined;
    const bodies = eventsOf(before, fact);
    this.state = fold(before, fact);
    this.facts.push(fact);
    this.bytes += weigh(body);
    for (const event of durableEvents(fact, bodies, sessionId)) this.events.push(event);
    return fact;
  }
}
