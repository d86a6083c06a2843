/*
 * Owns: the model calls that the context engine makes for one call: their reservations and intents, and their ends without a compaction.
 * Does not own: the text of a summary (the engine), what a lost summary costs (the loop).
 */
import { isAgentError } from "../../errors.ts";
import type { FactBody } from "../../loop/fact.ts";
import { lostSummary } from "../../loop/fold-summary-calls.ts";
import type { State } from "../../loop/state.ts";
import { tokensOf, type Usage } from "../../message/usage.ts";
import type { ContextCompaction, ContextReservation, ContextSpending } from "../../ports/context-engine.ts";
import { costAhead, costOf } from "../effects/cost-of-usage.ts";
import type { EffectHost } from "../effects/effect-deps.ts";
import { andThen, type SyncOrAsync } from "../effects/sync-or-async.ts";
import type { UserCodeTimeout } from "../effects/user-code-timeout.ts";
import type { Deps } from "../setup/session-deps.ts";
import type { AllowanceRequest } from "./expected-usage.ts";
import type { LoadedReservations } from "./lazy-reservations.ts";
import type { ReservedSummary } from "./ledger-reservations.ts";

interface SummaryDeps {
  readonly deps: Deps;
  readonly session: Pick<EffectHost, "offer">;
  /** True if the call is still for the history of `now`. */
  readonly isCurrent: (now: State) => boolean;
  readonly reservations: LoadedReservations | undefined;
  /** The timeout of the preparation. */
  readonly timeout: Pick<UserCodeTimeout, "signal">;
}

/** A summary whose intent is in the log. */
interface AskedSummary extends Pick<ContextSpending, "provider" | "model"> {
  readonly expected: Parameters<typeof lostSummary>[1]["expected"];
  readonly reserved: ReservedSummary | undefined;
  /** Unknown until the engine has settled the call. */
  spent?: Usage;
}

export class SummaryCalls {
  readonly #parts: SummaryDeps;
  readonly #request: AllowanceRequest;
  #open: AskedSummary | undefined;
  #isOver = false;

  constructor(parts: SummaryDeps, request: AllowanceRequest) {
    this.#parts = parts;
    this.#request = request;
  }

  /** Reserves the call, and records its intent. `undefined`: the ledger has refused the call, or the run does not need it any more. */
  async reserve(spending: ContextSpending): Promise<ContextReservation | undefined> {
    const { deps, session, reservations, timeout, isCurrent } = this.#parts;
    const { provider, model, usage } = spending;
    const { runId } = this.#request.effect;
    const loaded = reservations && (await reservations.load());
    const reserved = await loaded?.reserveSummary(this.#request, spending);
    if (loaded && !reserved) return undefined;
    if (timeout.signal.aborted) return void reserved?.release();
    const { prices } = deps.bound.agent;
    const ahead = prices && costAhead({ prices, clock: deps.clock }, { provider, model, usage, at: deps.clock.now() });
    const cost = ahead instanceof Promise ? await ahead : ahead;
    const expected = { usage, ...(prices ? { cost: { totalUsd: cost?.totalUsd ?? 0, partial: true } } : {}) };
    const asked: AskedSummary = { provider, model, expected, reserved };
    const earlier = this.#open;
    const before = await this.#closed();
    const started: FactBody = {
      type: "summary.started",
      runId,
      provider,
      model,
      expected,
      ...(reserved ? { reservation: reserved.id } : {}),
    };
    const isWanted = (now: State): boolean => {
      const { run, epoch } = now;
      return !this.#isOver && run?.runId === runId && !run.abort && epoch === this.#request.state.epoch && isCurrent(now);
    };
    const recorded = await session
      .offer((state) => (isWanted(state) ? [...before, started] : []))
      .catch((error: unknown) => {
        // If the handle was disposed of, the intent is not in the log. After any other error it may be, and the next owner counts the whole call.
        if (isAgentError(error, "RUN_ABORTED")) reserved?.release();
        throw error;
      });
    if (!recorded.some(({ type }) => type === started.type)) return void reserved?.release();
    settleIn(earlier);
    if (this.#isOver) {
      // The call was given up while the intent was being recorded, so nothing was sent.
      await session.offer(() => [{ type: "summary.failed", runId, provider, model }]);
      return void reserved?.release();
    }
    this.#open = asked;
    return {
      settle: (spent) => {
        asked.spent = spent;
      },
    };
  }

  /**
   * The facts to record with the prepared call: the compaction, and the end of a summary that the compaction does not end. If the summary has a
   * reservation, the facts are recorded at once: the reservation is settled after that and before the next reservation. No other summary may follow.
   */
  ends(compacted: readonly FactBody[], compaction: ContextCompaction | undefined): SyncOrAsync<readonly FactBody[]> {
    this.#isOver = true;
    const open = this.#open;
    if (!open) return compacted;
    const closed = compaction?.usage ? [] : this.#closed();
    return andThen(closed, (ends) => {
      const bodies = [...ends, ...compacted];
      return open.reserved ? this.#recorded(open, bodies) : bodies;
    });
  }

  /** If the run is stopped or belongs to another process, the log counts the most that the summary may have spent, and the reservation is kept. */
  async #recorded(open: AskedSummary, bodies: readonly FactBody[]): Promise<readonly FactBody[]> {
    const { effect, state } = this.#request;
    const isOpen = ({ run, epoch }: State): boolean =>
      run?.runId === effect.runId && run.summary !== undefined && !run.abort && epoch === state.epoch;
    try {
      const recorded = await this.#parts.session.offer((now) => (isOpen(now) ? bodies : []));
      this.#open = undefined;
      if (recorded.length > 0) settleIn(open);
      return [];
    } catch {
      // The store did not take the facts alone: they are appended with the call, which fails with the error of the store.
      return bodies;
    }
  }

  /** The end of an open summary, without waiting for its settlement: it counts as the most that the summary may have spent. */
  lost(): readonly FactBody[] {
    this.#isOver = true;
    return this.#open ? [lostSummary(this.#request.effect.runId, this.#open)] : [];
  }

  async #closed(): Promise<readonly FactBody[]> {
    const open = this.#open;
    this.#open = undefined;
    if (!open) return [];
    const { runId } = this.#request.effect;
    const { provider, model, spent } = open;
    if (!spent) return [lostSummary(runId, open)];
    const { deps } = this.#parts;
    const { prices } = deps.bound.agent;
    const cost = prices && (await costOf({ ...deps, prices }, { provider, model, usage: spent, at: deps.clock.now() }));
    return [
      { type: "summary.failed", runId, provider, model, ...(tokensOf(spent) > 0 ? { usage: spent, ...(cost ? { cost } : {}) } : {}) },
    ];
  }
}

/** Settles a summary whose end the log has. */
function settleIn(summary: AskedSummary | undefined): void {
  if (summary?.spent) summary.reserved?.settle(summary.spent);
}
