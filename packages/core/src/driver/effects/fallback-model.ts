/*
 * Owns: which model of a fallback chain an attempt uses, and which model follows a failed attempt.
 * Does not own: the rule (loop/retry/next-model-of-chain), the consequences of a failure for the run (loop/fold-turns).
 */
import type { Agent } from "../../agent/agent.ts";
import type { ModelRef } from "../../agent/model-ref.ts";
import type { Failure } from "../../errors.ts";
import { attemptsLeft } from "../../loop/retry/may-call-model-again.ts";
import { hasNextLink, linkAfter, type ModelChain, type ModelLink } from "../../loop/retry/next-model-of-chain.ts";
import type { Run } from "../../loop/state.ts";

/** The chain as the log records it; absent if the agent has one model. `model`: the model that the input chose in place of the first. */
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
  /** True if the deployment gave another model than the agent's. */
  readonly isResolved?: boolean;
  /** True if the call may not use this model again, even if attempts are left. */
  readonly isSpent?: boolean | undefined;
}

/** The model that replaces the model of a failed attempt; `undefined`: the same model is used again, or no attempt follows. */
export function nextModel(run: Run, { attempt, failure, hasSpoken, isResolved = false, isSpent }: EndedAttempt): ModelLink | undefined {
  const { chain, link = 0 } = run;
  if (!chain || isResolved) return undefined;
  const left = isSpent ? 0 : attemptsLeft(run, { attempt });
  const next = linkAfter({ failure, link, hasSpoken, isCommitted: false, attemptsLeft: left }, chain);
  return next === undefined || next === link ? undefined : chain.links[next];
}

/** The members of the fact of a failed attempt that another model follows. The message names that model for people that see the attempt withdrawn. */
export function movedOn(failure: Failure, next: ModelLink): { readonly failure: Failure; readonly next: ModelLink } {
  return { failure: { ...failure, message: `${failure.message} ${next.provider} ${next.model} is asked in its place.` }, next };
}

/** True if another model of the chain may be called after the current one. */
export const hasNextModel = ({ chain, link = 0 }: Run, { isResolved }: { readonly isResolved: boolean }): boolean =>
  chain !== undefined && !isResolved && hasNextLink(link, chain);

/** The last failure of a call. If several models of a chain were asked, its message lists the attempts of all. */
export function exhausted({ failed = [], chain, link = 0 }: Run, failure: Failure): Failure {
  const own = chain?.links[link];
  if (!own || !failed.some(({ provider, model }) => provider !== own.provider || model !== own.model)) return failure;
  const codes = new Map<string, string[]>();
  for (const { provider, model, code } of [...failed, { ...own, code: failure.code }])
    codes.set(`${provider} ${model}`, [...(codes.get(`${provider} ${model}`) ?? []), code]);
  const attempts = [...codes].map(([model, list]) => `${model}: ${list.join(", ")}`).join("; ");
  return { ...failure, message: `${failure.message} No model of the chain has answered (${attempts}).` };
}
