/*
 * Owns: the reservations of one session in the usage ledger: their requests, settlements and releases. Loaded only if there is a ledger.
 * Does not own: the accounts' sums and limits (the ledger).
 * Invariants
 *  U1 no model call starts without its reservation; a ledger that fails ends the run;
 *  U2 a reservation is released only if its attempt was certainly not sent. If the attempt may have been sent, the reservation is settled or kept;
 *  U3 a reservation is settled once the log has the end of its attempt. If this process leaves the attempt open in the log, the reservation is kept:
 *   the next owner counts the attempt in full;
 *  U4 the known usage of earlier calls is settled before the next call is reserved, even if one batch will record both.
 */
import type { FactBody } from "../../loop/fact.ts";
import type { Run, State } from "../../loop/state.ts";
import { tokensOf, type Usage } from "../../message/usage.ts";
import type { ContextReservation, ContextSpending } from "../../ports/context-engine.ts";
import type { LedgerOutcome, UsageLedger } from "../../ports/usage-ledger.ts";
import type { RequestBuilder } from "../../prompt/request-builder.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import type { Deps } from "../setup/session-deps.ts";
import { hookFailed, reportThrown } from "../setup/user-code-errors.ts";
import { type AllowanceRequest, amountOf, expectedUsage, outputBoundOf, roomFor } from "./expected-usage.ts";
import { boundedCall, keptOf, lastCall, lastRoomMin } from "./last-call-at-limit.ts";
import type { ModelAttemptEnd } from "./model-attempt.ts";
import type { PreparedModel } from "./prepare-model-call.ts";

/** The reservation of one attempt. */
export interface Reservation {
  readonly id: string;
  /** Called if no request was sent, and none will be. */
  release(): void;
  /** Called when the request is sent. */
  sent(): void;
  /** Called when the attempt has ended; returns the fact to record. */
  settled(end: ModelAttemptEnd, closing: FactBody): FactBody;
}

/** The reservation of a summary. */
export interface ReservedSummary extends ContextReservation, Pick<Reservation, "id" | "release"> {}

/** A reserved call. It may be the last call of the run, with a smaller answer and without tools. */
export interface ReservedCall {
  readonly before: readonly FactBody[];
  readonly prepared: PreparedModel;
  readonly reservation: Reservation;
}

type Refusal = Extract<LedgerOutcome, { readonly type: "refused" }>;

/** How often a smaller call is tried after a refusal. Other sessions may use up what is left between two tries. */
const lastTries = 3;

export class Reservations {
  readonly #deps: Deps;
  readonly #ledger: UsageLedger;
  readonly #builder: RequestBuilder;
  /** Reservations that are requested or made, and whose model call is not sent yet. */
  readonly #unsent = new Map<string, { readonly runId: string; isReserved: boolean }>();
  /** The bookings in progress; the next reservation waits for them. */
  #booked: Promise<unknown> = Promise.resolve();
  #openBookings = 0;
  /** The settlements of attempts whose end has not been seen in the log yet. */
  readonly #ended = new Map<string, Settling>();

  constructor(deps: Deps, ledger: UsageLedger, builder: RequestBuilder) {
    this.#deps = deps;
    this.#ledger = ledger;
    this.#builder = builder;
  }

  /**
   * The reserved call, or the facts that end the run without one. If an account has too little left for the call, what is left pays for a last answer.
   */
  async reserve(
    request: AllowanceRequest,
    reached: readonly FactBody[],
  ): Promise<ReservedCall | { readonly refused: readonly FactBody[] }> {
    const { effect, state } = request;
    const run = state.run as Run;
    const id = `${this.#deps.ref.scope}/${this.#deps.ref.session}/${effect.id}`;
    let { prepared } = request;
    let before = reached;
    try {
      for (let tries = 0; ; tries++) {
        const outcome = await this.#asked(id, { ...request, prepared });
        if (outcome.type === "reserved")
          return { before, prepared, reservation: this.#reservationOf(id, { prepared, effect, epoch: state.epoch }) };
        const isLast = run.limit !== undefined || before.length > 0;
        const limit = { which: `${outcome.which} of ${outcome.account}`, value: outcome.limit };
        const last = isLast ? prepared : lastCall(prepared, limit);
        const room = tries < lastTries ? await this.#roomFor({ ...request, prepared: last }, outcome) : undefined;
        if (!isLast) before = [{ type: "limit.reached", runId: effect.runId, ...limit }];
        if (room === undefined) return { refused: [...before, refusedEnd({ run, prepared, now: this.#deps.clock.now() }, outcome)] };
        prepared = boundedCall(last, room);
      }
    } catch (error) {
      const { code, message } = hookFailed(this.#deps, "The usage ledger", error);
      const failure = { code, message, retryable: false };
      return { refused: [{ type: "run.finished", runId: effect.runId, status: "failed", reason: code, failure, ...keptOf(prepared) }] };
    }
  }

  /** Reserves a model call of the context engine, before the call that it prepares. An error of the ledger is reported, and the call is not made. */
  async reserveSummary(request: AllowanceRequest, { provider, model, usage }: ContextSpending): Promise<ReservedSummary | undefined> {
    const { effect, prepared } = request;
    const { ref, clock, bound, ids } = this.#deps;
    const summary: PreparedModel = { ...prepared, intent: { ...prepared.intent, provider, model } };
    // A process that dies during the summary may have been charged for it, so the next owner reserves its summary under another id.
    const id = `${ref.scope}/${ref.session}/${effect.id}/context/${ids.next()}`;
    try {
      const accounts = this.#accountsOf({ ...request, prepared: summary }, request.state.run as Run);
      const ask = await amountOf(this.#deps, summary, usage);
      const expiresAt = clock.now() + bound.agent.deadlines.totalMs;
      const outcome = await this.#inTime((async () => this.#ledger.reserve({ id, accounts, ask, expiresAt }))());
      if (outcome.type === "refused") return undefined;
    } catch (error) {
      reportThrown(this.#deps, "The usage ledger threw an error.", error);
      return undefined;
    }
    const settled = async (spent: Usage): Promise<void> =>
      this.#ledger.settle(id, { ...(await amountOf(this.#deps, summary, spent)), source: spent.source ?? "reported" });
    return { id, settle: (spent) => this.#book(() => settled(spent)), release: () => this.#book(async () => this.#ledger.release(id)) };
  }

  async #asked(id: string, request: AllowanceRequest): Promise<LedgerOutcome> {
    const { effect, prepared, state } = request;
    const { clock, bound } = this.#deps;
    // Hooks may delay the closing fact of the attempt.
    const expiresAt = clock.now() + bound.agent.deadlines.totalMs + driverLimits.hookMs;
    const held = this.#unsent.get(id) ?? { runId: effect.runId, isReserved: false };
    this.#unsent.set(id, held);
    for (const [ended, settling] of this.#ended) this.#settleNow(ended, settling);
    const asked = async (): Promise<LedgerOutcome> => {
      await this.#booked;
      const accounts = this.#accountsOf(request, state.run as Run);
      const ask = await amountOf(this.#deps, prepared, expectedUsage(request, this.#builder));
      const outcome = soundOutcome(await this.#ledger.reserve({ id, accounts, ask, expiresAt }));
      held.isReserved = outcome.type === "reserved";
      // If the attempt was given up meanwhile, it needs no reservation.
      if (held.isReserved && !this.#unsent.has(id)) this.#book(async () => this.#ledger.release(id));
      return outcome;
    };
    return this.#inTime(asked());
  }

  /** Tokens of a last answer that fits into what the account has left; `undefined`: no last answer is allowed, or too little is left. */
  async #roomFor(request: AllowanceRequest, { which, left }: Refusal): Promise<number | undefined> {
    const { prepared, state } = request;
    const onLimit = (state.run as Run).limits.onLimit;
    if (onLimit !== "finalize") return undefined;
    const room = await roomFor(this.#deps, { prepared, expected: expectedUsage(request, this.#builder) }, { which, left });
    return room < lastRoomMin(prepared) ? undefined : Math.min(room, outputBoundOf(prepared));
  }

  #reservationOf(id: string, attempt: Pick<Settling, "prepared" | "effect" | "epoch">): Reservation {
    return {
      id,
      release: () => this.#release(id),
      sent: () => void this.#unsent.delete(id),
      settled: (end, closing) => {
        this.#ended.set(id, { ...attempt, end, closing });
        return closing;
      },
    };
  }

  #accountsOf({ context: { access }, prepared: { intent } }: AllowanceRequest, run: Run): readonly string[] {
    const { scope, session } = this.#deps.ref;
    const accounts = [`scope/${access.scope}`, `user/${access.scope}/${access.user}`, `session/${scope}/${session}`];
    const { provider, model } = intent;
    const { agent, labels = {} } = run;
    return this.#ledger.accountsOf?.({ accounts, session, agent, provider, model, access, labels }) ?? accounts;
  }

  /**
   * Releases the reservations of attempts that are no longer planned, and settles those whose end is in the log. A reservation is kept if another owner
   * may use its id, or may have closed its attempt.
   */
  onState({ run, epoch }: State): void {
    for (const [id, settling] of this.#ended) {
      const { runId, turn, attempt } = settling.effect;
      if (settling.epoch !== epoch) this.#ended.delete(id);
      else if (run?.runId !== runId || run.open?.turn !== turn || run.open.attempt !== attempt) this.#settleNow(id, settling);
    }
    for (const [id, { runId }] of this.#unsent) if (run?.runId !== runId || run.abort) this.#release(id);
  }

  #settleNow(id: string, settling: Settling): void {
    this.#ended.delete(id);
    this.#book(() => this.#settle(id, settling));
  }

  #release(id: string): void {
    const held = this.#unsent.get(id);
    this.#unsent.delete(id);
    if (held?.isReserved) this.#book(async () => this.#ledger.release(id));
  }

  async #settle(id: string, { prepared, end, closing }: Settling): Promise<void> {
    const closed = closing.type === "model.finished" || closing.type === "model.failed" ? closing : undefined;
    // A vendor that refused at once charges nothing.
    const usage: Usage = closed?.usage ?? end.usage ?? { input: 0, output: 0, source: "estimated" };
    const costUsd = closed?.usage && closed.cost?.totalUsd;
    const isKnown = costUsd !== undefined || !this.#deps.bound.agent.prices;
    const spent = isKnown
      ? { tokens: tokensOf(usage), ...(costUsd === undefined ? {} : { costUsd }) }
      : await amountOf(this.#deps, prepared, usage);
    await this.#ledger.settle(id, { ...spent, source: usage.source ?? "reported" });
  }

  /**
   * Runs the step when the earlier bookings are done. If there are none, it runs at once: a ledger in this process is then called before the end of the
   * run is reported. An error is reported, and the reservation stays.
   */
  #book(work: () => Promise<void>): void {
    const reported = (error: unknown): void => reportThrown(this.#deps, "The usage ledger threw an error.", error);
    const inTime = (): Promise<void> => this.#inTime(work());
    const done = this.#openBookings++ === 0 ? inTime() : this.#booked.then(inTime);
    this.#booked = done.catch(reported).finally(() => this.#openBookings--);
  }

  #inTime<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const late = (): void => reject(new Error(`The usage ledger did not answer within ${driverLimits.ledgerMs} ms.`));
      const cancel = this.#deps.clock.after(driverLimits.ledgerMs, late);
      void work.then(resolve, reject).finally(cancel);
    });
  }
}

/** @throws Error when the answer is neither a reservation nor a refusal: no call may be made on such an answer */
function soundOutcome(outcome: LedgerOutcome): LedgerOutcome {
  if (outcome.type === "reserved") return outcome;
  if (outcome.type === "refused" && outcome.limit >= 0 && outcome.left >= 0) return outcome;
  throw new Error("The usage ledger answered neither with a reservation nor with a refusal that has `limit` and `left`.");
}

interface Settling {
  readonly prepared: PreparedModel;
  readonly effect: AllowanceRequest["effect"];
  /** The epoch in which the call was reserved. */
  readonly epoch: number;
  readonly end: ModelAttemptEnd;
  readonly closing: FactBody;
}

interface RefusedCall {
  readonly run: Run;
  readonly prepared: PreparedModel;
  readonly now: number;
}

/** Ends the run as at a limit of the run itself, without a last model call. */
function refusedEnd({ run, prepared, now }: RefusedCall, { account, which, limit, per, resetsAt }: Refusal): FactBody {
  const { runId } = run;
  const kept = keptOf(prepared);
  if (run.limits.onLimit === "stop") return { type: "run.finished", runId, status: "completed", reason: "limit", ...kept };
  const what = which === "tokens" ? "tokens" : "US dollars";
  const message = `The account \`${account}\` has reached its limit of ${limit} ${what}${per === undefined ? "" : ` per ${per}`}.`;
  const wait = resetsAt === undefined ? {} : { retryAfterMs: Math.max(0, resetsAt - now) };
  const failure = { code: "LIMIT_REACHED", message, retryable: false, ...wait } as const;
  return { type: "run.finished", runId, status: "failed", reason: failure.code, failure, ...kept };
}
