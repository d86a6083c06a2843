/*
 * Owns: the model of a call: a model of the agent, or the model that the deployment gives instead.
 * Does not own: the models of the agent and their order (fallback-model), which key is used (the deployment).
 */
import type { Agent } from "../../agent/agent.ts";
import { isModelRef, type ModelRef, type ResolveModel } from "../../agent/model-ref.ts";
import { AgentError } from "../../errors.ts";
import type { Run } from "../../loop/state.ts";
import { hookFailed, type Reports } from "../setup/user-code-errors.ts";
import { chosenModel } from "./fallback-model.ts";
import type { EffectContext } from "./hook-deps.ts";
import type { SyncOrAsync } from "./sync-or-async.ts";

/** The call that needs a model. */
export interface ModelSeeker {
  readonly agent: Agent;
  readonly reports: Reports;
  readonly run: Run;
  readonly context: EffectContext;
  readonly resolveModel: ResolveModel | undefined;
}

export interface ChosenModel extends ModelRef {
  /** Index of the agent's model in the chain. */
  readonly link: number;
  /** True if the deployment was asked for the model. */
  readonly isAsked: boolean;
  /** True if the deployment gave a model in place of the agent's. */
  readonly isResolved: boolean;
}

/** The model of the call. Synchronous without `resolveModel`; otherwise rejects with its error. */
export function resolvedModel(setup: ModelSeeker): SyncOrAsync<ChosenModel> {
  const { agent, run, resolveModel } = setup;
  const planned = chosenModel(agent, run);
  if (!resolveModel) return { ...planned, isAsked: false, isResolved: false };
  return askResolver(setup, planned);
}

async function askResolver(
  { agent, reports, context, resolveModel }: ModelSeeker,
  { link, ...model }: ModelRef & { readonly link: number },
): Promise<ChosenModel> {
  const { access, sessionId, labels } = context;
  try {
    const given = await resolveModel?.({ access, sessionId, agent: agent.name, labels, model });
    if (given !== undefined && !isModelRef(given))
      throw new AgentError("CONFIG_INVALID", {
        message: "`resolveModel` returned a value that is not a model.",
        fix: "Return a `ModelRef` or `undefined`.",
      });
    return { ...(given ?? model), link, isAsked: true, isResolved: given !== undefined };
  } catch (error) {
    throw hookFailed(reports, "The function `resolveModel`", error);
  }
}

/** Names the key for the circuit breaker, so that a broken key of one user stops no other caller; `undefined`: the platform's key. */
export function keyNameOf({ keyOwner, keyId = "" }: ModelRef, { access }: EffectContext): string | undefined {
  if (keyOwner === "platform") return undefined;
  return JSON.stringify([keyOwner, keyOwner === "user" ? access.user : "", keyId]);
}
