import type { AgentError } from "../../errors.ts";
import type { Fact, FactBody } from "../../loop/fact.ts";
import type { State } from "../../loop/state.ts";
import type { Clock } from "../../ports/clock.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import { storeConflict, storeSilent } from "../setup/session-errors.ts";
import type { PendingBatch } from "./pending-batch.ts";

/** Facts that a caller offers to the log. */
export interface Offer {
  /** The facts to record in the newest state; called again after each conflict. No facts: the offer is done. @throws AgentError to refuse the offer. */
  readonly bodies: (state: State) => readonly FactBody[];
  /** The facts to record instead if the store refuses them. Absent: the offer is refused with the error of the store. */
  readonly instead?: (error: AgentError) => readonly FactBody[];
  /** True when the offer begins or continues a run, so that this process should own the session. */
  readonly needsOwner: boolean;
  /** True if the offer may stop the open run: its facts are also computed before an effect is launched, not only for the batch that takes it. */
  readonly mayStop?: boolean;
  /** True for the closing fact of an effect of this process: void once the lease is lost. */
  readonly isClosing?: boolean;
  /** True when the caller waits without a limit for a store that does not answer. A closing fact always waits. */
  readonly waitsForStore?: boolean;
}

/** An offer, and the promise of its caller. */
export interface WaitingOffer extends Omit<Offer, "instead"> {
  bodies: Offer["bodies"];
  readonly instead: Offer["instead"];
  /** True if the store refused the facts, so that `instead` is offered now. */
  isReplaced: boolean;
  resolve(): void;
  reject(error: AgentError): void;
  /** The facts of the offer in the last batch that took it. */
  facts: readonly Fact[];
  conflicts: number;
  /** True if its promise is settled, so that it is not offered again. */
  isOver: boolean;
  /** Ends the wait for the store, if it waits. */
  cancelWait: (() => void) | undefined;
}

/** The offers of a session, in the order of their arrival. */
export interface Inbox {
  readonly length: number;
  /**
   * Resolves with the facts when the log has them, or with none when there was nothing to record. Rejects with the AgentError that refused them, and,
   * unless the offer waits without a limit, with STORE_UNAVAILABLE when the store has not answered for 1.8 s.
   */
  put(offer: Offer): Promise<readonly Fact[]>;
  /** Folds offers until the batch is full. Refused offers are rejected at once; the rest waits for the next batch. */
  accept(pending: PendingBatch): readonly WaitingOffer[];
  /**
   * Puts offers back to the front after a conflict. An offer with too many conflicts is refused with STORE_CONFLICT. A closing fact never is, but it is
   * void if this process no longer owns the session.
   */
  putBack(offers: readonly WaitingOffer[], options: { readonly isOwner: boolean }): void;
  /**
   * The store has refused a batch with these offers. The next batches have one offer each, until the refused offer is known: it is replaced, or refused
   * with the error. @throws the error if no offer is the cause, or an offer that was already replaced
   */
  refused(offers: readonly WaitingOffer[], error: AgentError): void;
  /** True if the next batch may have one offer only. */
  readonly isAlone: boolean;
  /** Drops the closing facts. */
  dropClosings(): void;
  /** Refuses the offers that wait. */
  refuseAll(error: AgentError): void;
  /** Refuses the offers that wait, and those of the decision in progress, because it is unknown whether the log has them. */
  lose(error: AgentError): void;
  readonly needsOwner: boolean;
  /** True if the open run is being stopped, by the log or by an offer that waits. */
  stopsRun(state: State): boolean;
}

/** `refusal`: the error of an offer that could not be turned into facts. */
export function createInbox(clock: Clock, refusal: (error: unknown) => AgentError): Inbox {
  return new OfferList(clock, refusal);
}

class OfferList implements Inbox {
  readonly #clock: Clock;
  readonly #refusal: (error: unknown) => AgentError;
  #waiting: WaitingOffer[] = [];
  /** The offers of the last decision. */
  #taken: readonly WaitingOffer[] = [];
  /** How many offers at the front must be appended alone. */
  #suspects = 0;
  isAlone = false;

  constructor(clock: Clock, refusal: (error: unknown) => AgentError) {
    this.#clock = clock;
    this.#refusal = refusal;
  }

  get length(): number {
    return this.#waiting.length;
  }

  get needsOwner(): boolean {
    return this.#waiting.some((offer) => offer.needsOwner);
  }

  stopsRun(state: State): boolean {
    return state.run?.abort !== undefined || this.#waiting.some((offer) => offer.mayStop && stopsRun(offer, state));
  }

  put(offer: Offer): Promise<readonly Fact[]> {
    return new Promise((resolve, reject) => {
      const own = new PutOffer(offer, { resolve, reject });
      const giveUp = (): void => {
        this.#waiting = this.#waiting.filter((one) => one !== own);
        own.reject(storeSilent());
      };
      this.#waiting.push(own);
      if (!offer.isClosing && !offer.waitsForStore) own.cancelWait = this.#clock.after(driverLimits.commandMs, giveUp);
    });
  }

  accept(pending: PendingBatch): readonly WaitingOffer[] {
    const accepted: WaitingOffer[] = [];
    this.#taken = accepted;
    this.isAlone = this.#suspects > 0 && this.#waiting.length > 0;
    this.#suspects = this.isAlone ? this.#suspects - 1 : 0;
    const most = this.isAlone ? 1 : driverLimits.offersPerBatch;
    while (this.#waiting.length > 0 && accepted.length < most && hasRoom(pending)) {
      const offer = this.#waiting.shift() as WaitingOffer;
      try {
        offer.facts = addAll(offer.bodies(pending.state), pending);
        accepted.push(offer);
      } catch (error) {
        offer.reject(this.#refusal(error));
      }
    }
    return accepted;
  }

  putBack(offers: readonly WaitingOffer[], { isOwner }: { readonly isOwner: boolean }): void {
    this.#waiting = [...offers.filter((offer) => !offer.isOver && mayTryAgain(offer)), ...this.#waiting];
    if (!isOwner) this.dropClosings();
  }

  refused(offered: readonly WaitingOffer[], error: AgentError): void {
    if (offered.length === 0) throw error;
    const offers = offered.filter((offer) => !offer.isOver && (!this.isAlone || isReplaced(offer, error)));
    this.#suspects += offers.length;
    this.#waiting = [...offers, ...this.#waiting];
  }

  dropClosings(): void {
    for (const offer of this.#waiting) if (offer.isClosing) offer.resolve();
    this.#waiting = this.#waiting.filter((offer) => !offer.isClosing);
  }

  refuseAll(error: AgentError): void {
    for (const offer of this.#waiting.splice(0)) offer.reject(error);
  }

  lose(error: AgentError): void {
    // Offers with a known outcome are settled already.
    for (const offer of [...this.#taken, ...this.#waiting.splice(0)]) offer.reject(error);
    this.#taken = [];
  }
}

function addAll(bodies: readonly FactBody[], pending: PendingBatch): readonly Fact[] {
  const facts: Fact[] = [];
  for (const body of bodies) {
    const fact = pending.add(body);
    if (fact) facts.push(fact);
  }
  return facts;
}

function stopsRun({ bodies }: Pick<Offer, "bodies">, state: State): boolean {
  try {
    return bodies(state).some(
      (body) => body.type === "session.closed" || (body.type === "abort.requested" && body.runId === state.run?.runId),
    );
  } catch {
    return false; // The offer is refused when its turn comes.
  }
}

interface Settling {
  readonly resolve: (facts: readonly Fact[]) => void;
  readonly reject: (error: AgentError) => void;
}

/** An offer that waits. A class, because a run makes six of them, and as literals they had four closures each. */
class PutOffer implements WaitingOffer {
  readonly #settling: Settling;
  readonly needsOwner: boolean;
  readonly mayStop: boolean;
  readonly isClosing: boolean;
  readonly waitsForStore: boolean;
  readonly instead: Offer["instead"];
  bodies: Offer["bodies"];
  facts: readonly Fact[] = [];
  isReplaced = false;
  conflicts = 0;
  isOver = false;
  cancelWait: (() => void) | undefined;

  constructor(offer: Offer, settling: Settling) {
    const { bodies, instead, needsOwner, mayStop = false, isClosing = false, waitsForStore = false } = offer;
    this.#settling = settling;
    this.bodies = bodies;
    this.instead = instead;
    this.needsOwner = needsOwner;
    this.mayStop = mayStop;
    this.isClosing = isClosing;
    this.waitsForStore = waitsForStore;
  }

  resolve(): void {
    this.#end();
    this.#settling.resolve(this.facts);
  }

  reject(error: AgentError): void {
    this.#end();
    this.#settling.reject(error);
  }

  #end(): void {
    this.isOver = true;
    this.cancelWait?.();
  }
}

/** Replaces the facts that the store refused by `instead`; false if there is none, and the offer is refused. */
function isReplaced(offer: WaitingOffer, error: AgentError): boolean {
  if (offer.isReplaced) throw error;
  if (!offer.instead) {
    offer.reject(error);
    return false;
  }
  const bodies = offer.instead(error);
  offer.bodies = () => bodies;
  offer.isReplaced = true;
  return true;
}

/** True if the offer may be tried again after a conflict. Refuses an offer with too many conflicts. */
function mayTryAgain(offer: WaitingOffer): boolean {
  offer.conflicts += 1;
  if (offer.isClosing || offer.conflicts <= driverLimits.conflictsMax) return true;
  offer.reject(storeConflict());
  return false;
}

const hasRoom = ({ facts, bytes }: PendingBatch): boolean => facts.length < driverLimits.factsPerBatch && bytes < driverLimits.batchBytes;
