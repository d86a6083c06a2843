/*
 * Owns: what comes between a prepared model call and its record: token counts, the context engine, the ledger.
 * Does not own: each of them.
 * Invariants
 *  A1 the engine is asked before the ledger: what it recorded is kept also where the ledger refuses the call;
 *  A2 it is synchronous where nothing of it is slow.
 */

import { at } from "../../loop/append-list.ts";
import type { FactBody, Verdict } from "../../loop/fact.ts";
import type { Run, State } from "../../loop/state.ts";
import type { ContextCompaction, ContextPreparation, MessageSizes } from "../../ports/context-engine.ts";
import type { PreparationDeps } from "../effects/effect-deps.ts";
import { costOf } from "../effects/spent.ts";
import { andThen, type SyncOrAsync } from "../effects/sync-or-async.ts";
import type { Deps } from "../setup/deps.ts";
import type { LoadedCounts } from "./loaded-counts.ts";
import type { LoadedReservations } from "./loaded-reservations.ts";
import type { RequestFitting } from "./request-fitting.ts";
import type { Reservation, ReservationRequest } from "./reservations.ts";

/** What the model calls of a session share. */
export interface CallExtras {
  readonly reservations: LoadedReservations | undefined;
  readonly counts: LoadedCounts | undefined;
  readonly fitting: RequestFitting;
}

/** A call that may be recorded and sent. */
export interface Admitted {
  /** Its facts; the last one is the intent. */
  readonly bodies: readonly FactBody[];
  readonly reservation: Reservation | undefined;
  readonly sizes: MessageSizes | undefined;
  /** The vendor refused the attempt before because it was too long. */
  readonly overflowed: boolean;
}

/** A call that may be made, or the facts in its place. */
export type Admission = Admitted | { readonly refused: readonly FactBody[] };

type Setup = CallExtras & Pick<PreparationDeps, "state" | "timeout">;
type Request = Omit<ReservationRequest, "sizes">;

export function admitCall(deps: Deps, setup: Setup, request: Request): SyncOrAsync<Admission> {
  const { prepared, state } = request;
  const run = state.run as Run;
  const overflowed = run.retry?.failure.code === "CONTEXT_OVERFLOW";
  return andThen(setup.counts?.sizesOf(prepared, state), (sizes) => {
    const asked = setup.fitting.prepared({ run, state, prepared, sizes, overflowed }, setup.timeout);
    return andThen(asked, (done) =>
      andThen(compactionOf(deps, state, done), (before) =>
        andThen(reserved(setup, { ...request, sizes }), (reservation): Admission => {
          if (reservation && !("id" in reservation)) return { refused: [...before, ...reservation] };
          const intent = {
            ...prepared.intent,
            ...noted(prepared.intent.verdicts, done),
            ...(reservation ? { reservation: reservation.id } : {}),
          };
          return { bodies: [...before, intent], reservation, sizes, overflowed };
        }),
      ),
    );
  });
}

function reserved({ reservations }: Setup, request: ReservationRequest): SyncOrAsync<Reservation | readonly FactBody[] | undefined> {
  return reservations?.load().then((loaded) => loaded.reserve(request));
}

/** The engine's notes among the verdicts of the call. */
function noted(verdicts: readonly Verdict[] = [], done: ContextPreparation | undefined): { readonly verdicts?: readonly Verdict[] } {
  const notes = done?.notes ?? [];
  if (notes.length === 0) return {};
  return { verdicts: [...verdicts, ...notes.map((note): Verdict => ({ hook: "context", point: "prepare", ...note }))] };
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
