/*
 * Owns: the model calls of the context engine: from their intent to their end, which is recorded even if a process dies.
 * Does not own: what a summary replaces (fold-inputs), how one is written (the engine).
 */
import type { BodyOf, FactOf } from "./fact.ts";
import type { OpenSummary, State } from "./state.ts";

/** True if the run of the fact may ask for a summary: between two model calls, and one at a time. */
export function startsSummary({ run }: State, { runId }: FactOf<"summary.started">): boolean {
  return run?.runId === runId && !run.open && !run.summary && !run.abort;
}

export function foldSummaryStarted(state: State, { provider, model, expected }: FactOf<"summary.started">): State {
  return state.run ? { ...state, run: { ...state.run, summary: { provider, model, expected, inDoubt: false } } } : state;
}

export const endsSummary = ({ run }: State, { runId }: FactOf<"summary.failed">): boolean =>
  run?.runId === runId && run.summary !== undefined;

export function withoutSummary(state: State, { runId }: { readonly runId?: string }): State {
  if (!state.run?.summary || state.run.runId !== runId) return state;
  const { summary: _, ...run } = state.run;
  return { ...state, run };
}

/** The end of a summary whose outcome is unknown: its vendor may have charged for all of it. */
export function lostSummary(
  runId: string,
  { provider, model, expected }: Pick<OpenSummary, "provider" | "model" | "expected">,
): BodyOf<"summary.failed"> {
  return { type: "summary.failed", runId, provider, model, ...expected };
}
