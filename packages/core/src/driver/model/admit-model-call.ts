/*
 * Owns: what comes between a prepared model call and its record: token counts, the context engine, the limits of the run, the ledger.
 * Does not own: how each of these works.
 * Invariants
 *  A1 the engine is asked before the ledger, and its facts are recorded even if the ledger refuses the call;
 *  A2 admission is synchronous if nothing that it needs is asynchronous.
 */

import { at } from "../../loop/append-list.ts";
import type { FactBody, Verdict } from "../../loop/fact.ts";
import { timeLimit } from "../../loop/reached-limit.ts";
import type { Run, State } from "../../loop/state.ts";
import type { Usage } from "../../message/usage.ts";
import type { ContextCompaction, ContextPreparation, ContextPreparing, MessageSizes } from "../../ports/context-engine.ts";
import type { RequestBuilder } from "../../prompt/request-builder.ts";
import { costAhead, costOf } from "../effects/cost-of-usage.ts";
import type { EffectHost, PreparationDeps } from "../effects/effect-deps.ts";
import { keepsTip } from "../effects/keeps-tip.ts";
import { andThen, type SyncOrAsync } from "../effects/sync-or-async.ts";
import type { Deps } from "../setup/session-deps.ts";
import type { SummaryCalls } from "./context-summary-calls.ts";
import { type AllowanceRequest, expectedUsage, type MostSpent, mostOf } from "./expected-usage.ts";
import type { RequestFitting } from "./fit-request-to-window.ts";
import type { LoadedReservations } from "./lazy-reservations.ts";
import type { LoadedCounts } from "./lazy-token-counts.ts";
import type { Reservation } from "./ledger-reservations.ts";
import type { PreparedModel } from "./prepare-model-call.ts";

/** What the model calls of a session share. */
export interface CallExtras {
  readonly reservations: LoadedReservations | undefined;
  readonly counts: LoadedCounts | undefined;
  readonly fitting: RequestFitting;
}

/** A call that may be recorded and sent. */
export interface Admitted {
  /** The facts of the call; the last fact is the intent. */
  readonly bodies: readonly FactBody[];
  /** The request as it is sent: near a limit it differs from the request that was prepared. */
  readonly prepared: PreparedModel;
  readonly reservation: Reservation | undefined;
  /** The expected usage of the call, if the usage is limited or has a price. */
  readonly expected: Usage | undefined;
  readonly sizes: MessageSizes | undefined;
  /** True if the vendor refused the previous attempt because the prompt was too long. */
  readonly overflowed: boolean;
}

/** A call that may be made, or the facts that are recorded instead of it. */
export type Admission = Admitted | { readonly refused: readonly FactBody[] };

type Setup = CallExtras &
  Pick<PreparationDeps, "state" | "timeout"> & {
    readonly builder: RequestBuilder;
    readonly session: Pick<EffectHost, "offer">;
    /** Gets the calls of the context engine, which must end even if the model call cannot be prepared. */
    readonly onSummaries: (calls: SummaryCalls) => void;
  };
type Request = Omit<AllowanceRequest, "sizes">;

/** A call that its limits allow, with the facts that are recorded before it. */
interface Affordable {
  readonly before: readonly FactBody[];
  readonly prepared: PreparedModel;
  readonly reservation?: Reservation;
  /** The most that the call may spend, if its usage is limited or has a price. */
  readonly most?: MostSpent;
}

export function admitCall(deps: Deps, setup: Setup, request: Request): SyncOrAsync<Admission> {
  const { prepared, state } = request;
  const run = state.run as Run;
  const overflowed = run.retry?.failure.code === "CONTEXT_OVERFLOW";
  return andThen(setup.counts?.sizesOf(prepared, state), (sizes) => {
    const sized = { ...request, sizes };
    let summaries: SummaryCalls | undefined;
    const reserve: NonNullable<ContextPreparing["reserve"]> = async (spending) => {
      const { SummaryCalls } = await import("./context-summary-calls.ts");
      summaries ??= new SummaryCalls({ deps, ...setup, isCurrent: (now) => keepsTip(state, now) }, sized);
      setup.onSummaries(summaries);
      return summaries.reserve(spending);
    };
    const asked = setup.fitting.prepared({ run, state, prepared, sizes, overflowed }, setup.timeout, reserve);
    return andThen(asked, (done) =>
      andThen(recordOf(deps, { state, summaries }, done), (compacted) =>
        andThen(affordable(deps, setup, sized), (call): Admission => {
          if ("refused" in call) return { refused: [...compacted, ...call.refused] };
          const { before, reservation } = call;
          const intent = {
            ...call.prepared.intent,
            ...noted(call.prepared.intent.verdicts, done),
            ...(reservation ? { reservation: reservation.id } : {}),
            ...(call.most ? { expected: call.most } : {}),
          };
          const expected = call.most ? expectedUsage({ ...sized, prepared: call.prepared }, setup.builder) : undefined;
          return { prepared: call.prepared, bodies: [...compacted, ...before, intent], reservation, sizes, overflowed, expected };
        }),
      ),
    );
  });
}

/** The call within the limits of its run and its accounts, or the facts that are recorded instead. Synchronous if nothing is limited. */
function affordable(
  deps: Deps,
  { reservations, builder }: Setup,
  request: AllowanceRequest,
): SyncOrAsync<Affordable | { readonly refused: readonly FactBody[] }> {
  const run = request.state.run as Run;
  const whole: Affordable = { before: [], prepared: request.prepared };
  const allowed = hasAllowance(run, deps.clock.now())
    ? import("./check-run-budget.ts").then(({ allowedCall }) => allowedCall(deps, request, builder))
    : whole;
  const reserved = andThen(allowed, (call) => {
    if ("refused" in call || !reservations) return call;
    return reservations.load().then((loaded) => loaded.reserve({ ...request, prepared: call.prepared }, call.before));
  });
  return andThen(reserved, (call) => {
    if ("refused" in call) return call;
    const isLimited = reservations || allowed instanceof Promise;
    if (!isLimited) return andThen(mostAhead(deps, request, builder), (most) => (most ? { ...call, most } : call));
    return mostOf(deps, { ...request, prepared: call.prepared }, builder).then((most) => ({ ...call, most }));
  });
}

/** The most that a call without limits spends. It does not wait for a slow price table: without a price the cost is 0, and partial. */
function mostAhead(deps: Deps, request: AllowanceRequest, builder: RequestBuilder): SyncOrAsync<MostSpent | undefined> {
  const { prices } = deps.bound.agent;
  if (!prices) return undefined;
  const { provider, model } = request.prepared.intent;
  const usage = expectedUsage(request, builder);
  const cost = costAhead({ prices, clock: deps.clock }, { provider, model, usage, at: deps.clock.now() });
  return andThen(cost, (known) => ({ usage, cost: { totalUsd: known?.totalUsd ?? 0, partial: true } }));
}

/** True if the run has a limit that a call may exceed, or no time left. */
function hasAllowance(run: Run, now: number): boolean {
  const { limits, budget } = run;
  const spending = limits.tokensMax + limits.costUsdMax + (budget?.tokensMax ?? 0) + (budget?.costUsdMax ?? 0);
  return spending > 0 || timeLimit(run, now) !== undefined;
}

/** The engine's notes among the verdicts of the call. */
function noted(verdicts: readonly Verdict[] = [], done: ContextPreparation | undefined): { readonly verdicts?: readonly Verdict[] } {
  const notes = done?.notes ?? [];
  if (notes.length === 0) return {};
  return { verdicts: [...verdicts, ...notes.map((note): Verdict => ({ hook: "context", point: "prepare", ...note }))] };
}

/** The facts of the engine: what it has spent in vain, and its compaction. */
function recordOf(
  deps: Deps,
  { state, summaries }: { readonly state: State; readonly summaries: SummaryCalls | undefined },
  done: ContextPreparation | undefined,
): SyncOrAsync<readonly FactBody[]> {
  return andThen(compactionOf(deps, state, done), (compacted) => summaries?.ends(compacted, done?.compaction) ?? compacted);
}

/** The fact of a compaction, with the price of its summary. */
function compactionOf(deps: Deps, { run, history }: State, done: ContextPreparation | undefined): SyncOrAsync<readonly FactBody[]> {
  if (!done?.compaction || !run) return [];
  const path = at(history, run.tip)?.id;
  const { provider, ...compaction }: ContextCompaction = done.compaction;
  const body: FactBody = { type: "context.compacted", runId: run.runId, ...(path === undefined ? {} : { path }), ...compaction };
  const { model, usage } = compaction;
  const { prices } = deps.bound.agent;
  if (!prices || provider === undefined || model === undefined || !usage) return [body];
  return costOf({ ...deps, prices }, { provider, model, usage, at: deps.clock.now() }).then((cost) => [cost ? { ...body, cost } : body]);
}
