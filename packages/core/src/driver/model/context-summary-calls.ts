/*
 * Owns: the model calls that the context engine makes for one call: their reservations, their intents, and the ends of those that no compaction ends.
 * Does not own: the text of a summary (the engine), what a lost one costs (the loop).
 */
import type { FactBody } from "../../loop/fact.ts";
import { lostSummary } from "../../loop/fold-summary-calls.ts";
import type { State } from "../../loop/state.ts";
import { tokensOf, type Usage } from "../../message/usage.ts";
import type { ContextCompaction, ContextReservation, ContextSpending } from "../../ports/context-engine.ts";
import { costAhead, costOf } from "../effects/cost-of-usage.ts";
import type { EffectHost } from "../effects/effect-deps.ts";
import type { SyncOrAsync } from "../effects/sync-or-async.ts";
import type { Deps } from "../setup/session-deps.ts";
import type { AllowanceRequest } from "./expected-usage.ts";
import type { LoadedReservations } from "./lazy-reservations.ts";

interface SummaryDeps {
  readonly deps: Deps;
  readonly session: Pick<EffectHost, "offer">;
  readonly reservations: LoadedReservations | undefined;
}

/** A summary whose intent is in the log. */
interface AskedSummary extends Pick<ContextSpending, "provider" | "model"> {
  readonly expected: Parameters<typeof lostSummary>[1]["expected"];
  /** Unknown until it is settled. */
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

  /** Reserves the call, and records its intent. `undefined`: the ledger has refused it, or the run does not need it any more. */
  async reserve(spending: ContextSpending): Promise<ContextReservation | undefined> {
    const { deps, session, reservations } = this.#parts;
    const { provider, model, usage } = spending;
    const { runId } = this.#request.effect;
    const loaded = reservations && (await reservations.load());
    const reserved = await loaded?.reserveSummary(this.#request, spending);
    if (loaded && !reserved) return undefined;
    const { prices } = deps.bound.agent;
    const ahead = prices && costAhead({ prices, clock: deps.clock }, { provider, model, usage, at: deps.clock.now() });
    const cost = ahead instanceof Promise ? await ahead : ahead;
    const expected = { usage, ...(prices ? { cost: { totalUsd: cost?.totalUsd ?? 0, partial: true } } : {}) };
    const asked: AskedSummary = { provider, model, expected };
    const before = await this.#closed();
    const started: FactBody = {
      type: "summary.started",
      runId,
      provider,
      model,
      expected,
      ...(reserved ? { reservation: reserved.id } : {}),
    };
    const isWanted = ({ run }: State): boolean => !this.#isOver && run?.runId === runId && !run.abort;
    let isRecorded = false;
    await session.offer((state) => {
      isRecorded = isWanted(state);
      return isRecorded ? [...before, started] : [];
    });
    if (!isRecorded || this.#isOver) {
      reserved?.release();
      return undefined;
    }
    this.#open = asked;
    return {
      settle: (spent) => {
        asked.spent = spent;
        reserved?.settle(spent);
      },
    };
  }

  /** The end of a summary that no compaction ends. Nothing is recorded after it. */
  ends(compaction: ContextCompaction | undefined): SyncOrAsync<readonly FactBody[]> {
    this.#isOver = true;
    return !this.#open || compaction?.usage ? [] : this.#closed();
  }

  /** The same without waiting for the settlement: the summary counts with the most that it may have spent. */
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
