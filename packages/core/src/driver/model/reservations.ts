/*
 * Owns: the reservations of one session in the usage ledger: their requests, settlements and releases. Loaded only if there is a ledger.
 * Does not own: the accounts' sums and limits (the ledger).
 * Invariants
 *  U1 no model call starts without its reservation; a ledger that fails ends the run;
 *  U2 the reservation of an attempt that may have been sent is settled or kept; only that of an attempt that was certainly not sent is released.
 */
import type { Effect } from "../../loop/effect.ts";
import type { BodyOf, FactBody } from "../../loop/fact.ts";
import type { Run, State } from "../../loop/state.ts";
import type { Message } from "../../message/message.ts";
import { tokensOf, type Usage } from "../../message/usage.ts";
import type { MessageSizes } from "../../ports/context-engine.ts";
import type { LedgerOutcome, LedgerSpending, UsageAmount, UsageLedger } from "../../ports/usage-ledger.ts";
import { charactersPerToken, estimatedSizes, lengthOf } from "../../prompt/message-length.ts";
import type { RequestBuilder } from "../../prompt/request-builder.ts";
import type { EffectContext } from "../effects/hook-deps.ts";
import { costOf } from "../effects/spent.ts";
import type { Deps } from "../setup/deps.ts";
import { driverLimits } from "../setup/session-options.ts";
import { hookFailed, reportThrown } from "../setup/user-code.ts";
import type { ModelAttemptEnd } from "./model-attempt.ts";
import type { PreparedModel } from "./prepare-model.ts";

type CallModel = Extract<Effect, { readonly type: "call-model" }>;

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

/** The data of a reservation. */
export interface ReservationRequest {
  readonly effect: CallModel;
  readonly prepared: PreparedModel;
  readonly state: State;
  readonly context: Pick<EffectContext, "access">;
  /** Absent: estimated. */
  readonly sizes: MessageSizes | undefined;
}

/** The tokens of an answer if neither the request nor the model has a limit. */
const outputTokensUsual = 4_096;

export class Reservations {
  readonly #deps: Deps;
  readonly #ledger: UsageLedger;
  readonly #builder: RequestBuilder;
  /** Reservations that are requested or made, and whose request is not sent yet. */
  readonly #unsent = new Map<string, { readonly runId: string; isReserved: boolean }>();
  /** The bookings in progress; the next reservation waits for them. */
  #booked: Promise<unknown> = Promise.resolve();

  constructor(deps: Deps, ledger: UsageLedger, builder: RequestBuilder) {
    this.#deps = deps;
    this.#ledger = ledger;
    this.#builder = builder;
  }

  /** The reservation, or the facts that end the run without one. */
  async reserve(request: ReservationRequest): Promise<Reservation | readonly FactBody[]> {
    const { effect, prepared, state } = request;
    const { clock, ref } = this.#deps;
    const run = state.run as Run;
    const id = `${ref.scope}/${ref.session}/${effect.id}`;
    const usage = this.#expected(request);
    // The closing fact of the attempt may still wait for hooks.
    const expiresAt = clock.now() + this.#deps.bound.agent.deadlines.totalMs + driverLimits.hookMs;
    const held = this.#unsent.get(id) ?? { runId: effect.runId, isReserved: false };
    this.#unsent.set(id, held);
    const asked = async (): Promise<LedgerOutcome> => {
      await this.#booked;
      const accounts = this.#accountsOf(request, run);
      const outcome = await this.#ledger.reserve({ id, accounts, ask: await this.#amountOf(prepared, usage), expiresAt });
      held.isReserved = outcome.type === "reserved";
      // The attempt was given up meanwhile.
      if (held.isReserved && !this.#unsent.has(id)) this.#book(async () => this.#ledger.release(id));
      return outcome;
    };
    let outcome: LedgerOutcome;
    try {
      outcome = await this.#inTime(asked());
    } catch (error) {
      const { code, message } = hookFailed(this.#deps, "The usage ledger", error);
      const failure = { code, message, retryable: false };
      return [{ type: "run.finished", runId: effect.runId, status: "failed", reason: code, failure, ...keptOf(prepared) }];
    }
    if (outcome.type === "refused") return refusedFacts(run, outcome, prepared);
    return {
      id,
      release: () => this.#release(id),
      sent: () => void this.#unsent.delete(id),
      settled: (end, closing) => {
        this.#book(() => this.#settle(id, { prepared, expected: usage, end, closing }));
        return closing;
      },
    };
  }

  #accountsOf({ context: { access }, prepared: { intent } }: ReservationRequest, run: Run): readonly string[] {
    const { scope, session } = this.#deps.ref;
    const accounts = [`scope/${access.scope}`, `user/${access.scope}/${access.user}`, `session/${scope}/${session}`];
    const { provider, model } = intent;
    const { agent, labels = {} } = run;
    return this.#ledger.accountsOf?.({ accounts, session, agent, provider, model, access, labels }) ?? accounts;
  }

  /** Releases the reservations of attempts that are no longer planned. A reservation that another owner may use under the same id is kept. */
  onState({ run }: State): void {
    for (const [id, { runId }] of this.#unsent) if (run?.runId !== runId || run.abort) this.#release(id);
  }

  #release(id: string): void {
    const held = this.#unsent.get(id);
    this.#unsent.delete(id);
    if (held?.isReserved) this.#book(async () => this.#ledger.release(id));
  }

  async #settle(id: string, how: Settling): Promise<void> {
    const { prepared, closing } = how;
    const closed = closing.type === "model.finished" || closing.type === "model.failed" ? closing : undefined;
    const reported = closed?.usage ?? how.end.usage;
    const usage = reported ?? estimated(how);
    const source: LedgerSpending["source"] = reported && usage.source !== "estimated" ? "reported" : "estimated";
    const cost =
      closed?.cost && reported ? { tokens: tokensOf(usage), costUsd: closed.cost.totalUsd } : await this.#amountOf(prepared, usage);
    await this.#ledger.settle(id, { ...cost, source });
  }

  /** Runs the step after the earlier bookings. An error is reported; the reservation then stays. */
  #book(work: () => Promise<void>): void {
    const reported = (error: unknown): void => reportThrown(this.#deps, "The usage ledger threw an error.", error);
    this.#booked = this.#booked.then(() => this.#inTime(work())).catch(reported);
  }

  /** The expected tokens of the prompt, and the most tokens of the answer. */
  #expected({ effect, prepared, state, sizes }: ReservationRequest): Usage {
    const { request, provider, messages } = prepared;
    const known = sizes ?? estimatedSizes;
    const sizeOfAll = (all: readonly Message[]): number => all.reduce((sum, message) => sum + known.sizeOf(message), 0);
    const history = messages ? undefined : this.#builder.historyAt(state);
    const notices = (prepared.intent.notices ?? effect.notices).map((text): Message => ({ role: "notice", text }));
    const joining = (state.run?.steered ?? []).flatMap(({ message }) => message ?? []);
    const before = history ? (sizes?.sizeOfAll(history.messages) ?? history.textLength) : sizeOfAll(messages ?? []);
    const length = before + sizeOfAll([...joining, ...notices]) + known.sizeBeside(request);
    const output = request.maxTokens ?? provider.capabilities(request.model).outputTokensMax ?? outputTokensUsual;
    return { input: Math.ceil(length / charactersPerToken), output, source: "estimated" };
  }

  async #amountOf({ intent: { provider, model } }: PreparedModel, usage: Usage): Promise<UsageAmount> {
    const { bound, clock } = this.#deps;
    const { prices } = bound.agent;
    const cost = prices && (await costOf({ ...this.#deps, prices }, { provider, model, usage, at: clock.now() }));
    return { tokens: tokensOf(usage), ...(cost ? { costUsd: cost.totalUsd } : {}) };
  }

  #inTime<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const late = (): void => reject(new Error(`The usage ledger did not answer within ${driverLimits.ledgerMs} ms.`));
      const cancel = this.#deps.clock.after(driverLimits.ledgerMs, late);
      void work.then(resolve, reject).finally(cancel);
    });
  }
}

interface Settling {
  readonly prepared: PreparedModel;
  readonly expected: Usage;
  readonly end: ModelAttemptEnd;
  readonly closing: FactBody;
}

/** The assumed usage of an attempt without a report of its vendor. A vendor that refused at once charges nothing. */
function estimated({ expected, end }: Settling): Usage {
  const written = lengthOf({ role: "assistant", content: end.parts, stopReason: "stop" });
  const isRefused = end.type === "failed" && end.parts.length === 0 && end.failure.code !== "MODEL_TIMEOUT";
  if (isRefused) return { input: 0, output: 0, source: "estimated" };
  return { input: expected.input ?? 0, output: Math.ceil(written / charactersPerToken), source: "estimated" };
}

/** Ends the run as at a limit of its own, but without a final model call. */
function refusedFacts(
  run: Run,
  refused: Extract<LedgerOutcome, { readonly type: "refused" }>,
  prepared: PreparedModel,
): readonly FactBody[] {
  const { account, which, limit, per } = refused;
  const { runId } = run;
  const name = `${which} of ${account}`;
  const reached: readonly FactBody[] = run.limit ? [] : [{ type: "limit.reached", runId, which: name, value: limit }];
  const kept = keptOf(prepared);
  if (run.limits.onLimit === "stop") return [...reached, { type: "run.finished", runId, status: "completed", reason: "limit", ...kept }];
  const what = which === "tokens" ? "tokens" : "US dollars";
  const message = `The account \`${account}\` has reached its limit of ${limit} ${what}${per === undefined ? "" : ` per ${per}`}.`;
  const failure = { code: "LIMIT_REACHED", message, retryable: false } as const;
  return [...reached, { type: "run.finished", runId, status: "failed", reason: failure.code, failure, ...kept }];
}

/** What the `prepare` hooks add to the log for a call that is not made. */
function keptOf({
  intent: { verdicts, hookState, expenses },
}: PreparedModel): Pick<BodyOf<"run.finished">, "verdicts" | "hookState" | "expenses"> {
  return { ...(verdicts ? { verdicts } : {}), ...(hookState ? { hookState } : {}), ...(expenses ? { expenses } : {}) };
}
