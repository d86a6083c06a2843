/*
 * Owns: the model of a fallback chain for an attempt, and the model after it.
 * Does not own: the rule (loop/retry/next-model-of-chain), the consequences of a failure for the run (loop/turn-fold).
 */
import type { Agent } from "../../agent/agent.ts";
import type { ModelRef } from "../../agent/model-ref.ts";
import type { Failure } from "../../errors.ts";
import { attemptsLeft } from "../../loop/retry/may-call-model-again.ts";
import { linkAfter, type ModelChain, type ModelLink } from "../../loop/retry/next-model-of-chain.ts";
import type { Run } from "../../loop/state.ts";

/** The chain in the form of the log; absent for an agent of one model. `model`: the model that the input chose in place of the first. */
export function chainOf({ chain, crossings }: Agent, model: string | undefined): { readonly chain?: ModelChain } {
  if (chain.length < 2) return {};
  const links = chain.map((ref, at): ModelLink => {
    const { provider, keyOwner } = ref;
    return { provider: provider.name, model: at === 0 ? (model ?? ref.model) : ref.model, keyOwner };
  });
  return { chain: { links, ...(crossings ? { crossings } : {}) } };
}

/**
 * The model of the next attempt, with its index in the chain. If the agent no longer has this model, for example after a deployment, its first model
 * is used.
 */
export function chosenModel({ chain, provider }: Agent, run: Run): ModelRef & { readonly link: number } {
  const { link = 0 } = run;
  const wanted = link === 0 ? undefined : run.chain?.links[link];
  const own = chain.find((ref) => ref.provider.name === wanted?.provider && ref.model === wanted.model && ref.keyOwner === wanted.keyOwner);
  if (own) return { ...own, link };
  return { provider, model: run.options?.model ?? run.model, keyOwner: chain[0]?.keyOwner ?? "platform", link: 0 };
}

/** A failed attempt. */
export interface EndedAttempt {
  readonly attempt: number;
  readonly failure: Failure;
  readonly hasSpoken: boolean;
  /** Its model was given in place of the agent's. */
  readonly isResolved?: boolean;
}

/** The other model that follows a failed attempt; `undefined`: the same one, or none. */
export function nextModel(run: Run, { attempt, failure, hasSpoken, isResolved = false }: EndedAttempt): ModelLink | undefined {
  const { chain, link = 0 } = run;
  if (!chain || isResolved) return undefined;
  const next = linkAfter({ failure, link, hasSpoken, isCommitted: false, attemptsLeft: attemptsLeft(run, { attempt }) }, chain);
  return next === undefined || next === link ? undefined : chain.links[next];
}
