/*
 * Owns: whether an attempt of a model call still fits into the limits of its run: tokens, money and time.
 * Does not own: the limits that are known without the size of the call (loop/reached-limit), accounts over sessions (ledger-reservations).
 * Invariants
 *  R1 a call with tools is made only if all that it may spend fits, so that a run exceeds a limit by its last call at most;
 *  R2 the last call has no tools, and its answer is limited. A last call that was cut off beyond the limit is not repeated;
 *  R3 a child does not exceed its share, so that a tree exceeds the limit of its root by the last call of the root at most;
 *  R4 what `prepare` hooks spent and kept for the call is recorded, also if the call becomes the last one or is not made.
 */
import { chargedTo } from "../../loop/children/background-children.ts";
import type { FactBody } from "../../loop/fact.ts";
import { least, limitFacts, timeLimit } from "../../loop/reached-limit.ts";
import type { ReachedLimit, Run } from "../../loop/state.ts";
import type { RequestBuilder } from "../../prompt/request-builder.ts";
import type { Deps } from "../setup/session-deps.ts";
import { type AllowanceRequest, expectedUsage, type LeftOfLimit, outputBoundOf, roomFor } from "./expected-usage.ts";
import { answerTokensMin, boundedCall, keptOf, lastCall, roomMin } from "./last-call-at-limit.ts";
import type { PreparedModel } from "./prepare-model-call.ts";

/** The call that may be made, with the facts before it; or the facts that are recorded instead. */
export type Allowed =
  | { readonly before: readonly FactBody[]; readonly prepared: PreparedModel }
  | { readonly refused: readonly FactBody[] };

interface Limit extends LeftOfLimit {
  readonly limit: number;
}

function limitsOf(run: Run): readonly Limit[] {
  const { limits, budget } = run;
  const charged = chargedTo(run);
  const tokens = least(limits.tokensMax, budget?.tokensMax);
  const costUsd = least(limits.costUsdMax, budget?.costUsdMax);
  return [
    { which: "tokens" as const, limit: tokens, left: tokens - charged.tokens },
    { which: "costUsd" as const, limit: costUsd, left: costUsd - charged.costUsd },
  ].filter(({ limit }) => limit > 0);
}

export async function allowedCall(deps: Deps, request: AllowanceRequest, builder: RequestBuilder): Promise<Allowed> {
  const { effect, prepared, state } = request;
  const run = state.run as Run;
  const limits = limitsOf(run);
  if (run.limit && run.budget) return lastOfChild(deps, { request, builder, last: prepared }, { run, limit: run.limit, facts: [] });
  // A last call that was cut off may have been charged. Repeated, it would be a second call beyond the limit.
  if (run.limit && effect.attempt > 1 && limits.some(({ left }) => left < 0)) return { refused: endAtLimit(run, run.limit, prepared) };
  if (run.limit) return { before: [], prepared: limits.length > 0 ? boundedCall(prepared, outputBoundOf(prepared)) : prepared };
  const late = timeLimit(run, deps.clock.now());
  if (late) return ended(run, late, prepared);
  const expected = expectedUsage(request, builder);
  let room = expected.output ?? 0;
  for (const limit of limits) {
    const own = await roomFor(deps, { prepared, expected }, limit);
    if (own < roomMin(prepared, limit.which === "tokens" ? limit.limit : undefined)) {
      const reached = { which: limit.which, value: limit.limit };
      // Not even a last answer may exceed the share of a child, because others use the rest of the same limit.
      const facts = limitFacts(run, reached);
      if (run.budget && facts.length === 1)
        return lastOfChild(deps, { request, builder, last: lastCall(prepared, reached) }, { run, limit: reached, facts });
      // The answer gets what is left, but never too little for an answer.
      return ended(run, reached, boundedCall(prepared, Math.min(outputBoundOf(prepared), Math.max(own, answerTokensMin))));
    }
    room = Math.min(room, own);
  }
  return { before: [], prepared: limits.length > 0 ? boundedCall(prepared, room) : prepared };
}

/** The fewest tokens of the last answer of a child. */
const shareRoomMin = 16;

interface LastCall {
  readonly request: AllowanceRequest;
  readonly builder: RequestBuilder;
  readonly last: PreparedModel;
}

interface Reached {
  readonly run: Run;
  readonly limit: ReachedLimit;
  /** The facts that record the limit. */
  readonly facts: readonly FactBody[];
}

/** The last call of a child with an answer that its share has room for, or the end of its run. */
async function lastOfChild(deps: Deps, { request, builder, last }: LastCall, { run, limit, facts }: Reached): Promise<Allowed> {
  const expected = expectedUsage({ ...request, prepared: last }, builder);
  let room = outputBoundOf(last);
  for (const one of limitsOf(run))
    if (one.limit === shareIn(run, one.which)) room = Math.min(room, await roomFor(deps, { prepared: last, expected }, one));
  if (room >= shareRoomMin) return { before: facts, prepared: boundedCall(last, room) };
  return { refused: [...facts, ...endAtLimit(run, limit, last)] };
}

/** The end of a run whose limit is recorded already, without another call. */
function endAtLimit(run: Run, limit: ReachedLimit, prepared: PreparedModel): readonly FactBody[] {
  const facts = limitFacts({ ...run, limits: { ...run.limits, onLimit: "error" } }, limit);
  return facts.filter(({ type }) => type === "run.finished").map((fact) => ({ ...fact, ...keptOf(prepared) }));
}

const shareIn = ({ budget }: Run, which: "tokens" | "costUsd"): number | undefined =>
  which === "tokens" ? budget?.tokensMax : budget?.costUsdMax;

function ended(run: Run, limit: ReachedLimit, prepared: PreparedModel): Allowed {
  const facts = limitFacts(run, limit);
  if (facts.length === 1) return { before: facts, prepared: lastCall(prepared, limit) };
  return { refused: facts.map((fact) => (fact.type === "run.finished" ? { ...fact, ...keptOf(prepared) } : fact)) };
}
