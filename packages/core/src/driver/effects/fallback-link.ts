/*
 * Owns: which model of a fallback chain an attempt is made with, and which one follows it.
 * Does not own: the rule (loop/fallback), what a failure does to the run (loop/turns).
 */
import type { Agent } from "../../agent/agent.ts";
import type { ModelRef } from "../../agent/model-ref.ts";
import type { Failure } from "../../errors.ts";
import { linkAfter, type ModelChain, type ModelLink } from "../../loop/fallback.ts";
import type { Run } from "../../loop/state.ts";
import { attemptsLeft } from "../../loop/turns.ts";

/** The chain as the log has it; absent for an agent of one model. `model`: the one that the input asks for in place of the first. */
export function chainOf({ chain, crossings }: Agent, model: string | undefined): { readonly chain?: ModelChain } {
  if (chain.length < 2) return {};
  const links = chain.map((ref, at): ModelLink => {
    const { provider, keyOwner } = ref;
    return { provider: provider.name, model: at === 0 ? (model ?? ref.model) : ref.model, keyOwner };
  });
  return { chain: { links, ...(crossings ? { crossings } : {}) } };
}

/**
 * The model of the next attempt, with its place in the chain. An agent that has lost this model since the run began, as after a deployment, is asked
 * with its first one.
 */
export function chosenModel({ chain, provider }: Agent, run: Run): ModelRef & { readonly link: number } {
  const { link = 0 } = run;
  const wanted = link === 0 ? undefined : run.chain?.links[link];
  const own = chain.find((ref) => ref.provider.name === wanted?.provider && ref.model === wanted.model && ref.keyOwner === wanted.keyOwner);
  if (own) return { ...own, link };
  return { provider, model: run.options?.model ?? run.model, keyOwner: chain[0]?.keyOwner ?? "platform", link: 0 };
}

/** The other model that follows a failed attempt; `undefined`: the same one, or none. */
export function nextModel(
  run: Run,
  { attempt, failure, hasSpoken }: { readonly attempt: number; readonly failure: Failure; readonly hasSpoken: boolean },
): ModelLink | undefined {
  const { chain, link = 0 } = run;
  if (!chain) return undefined;
  const next = linkAfter({ failure, link, hasSpoken, isCommitted: false, attemptsLeft: attemptsLeft(run, { attempt }) }, chain);
  return next === undefined || next === link ? undefined : chain.links[next];
}
