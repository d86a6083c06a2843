import { type Failure, failureOf } from "../../errors.ts";
import type { Run, State } from "../../loop/state.ts";
import type {
  ContextCall,
  ContextPreparation,
  ContextPreparing,
  FittedRequest,
  MessageSizes,
  SessionContext,
} from "../../ports/context-engine.ts";
import { addedBehind } from "../../prompt/added-messages.ts";
import { estimatedSizes } from "../../prompt/message-length.ts";
import type { BuildingHistory, BuiltHistory, Fit, RequestBuilder } from "../../prompt/request-builder.ts";
import type { SyncOrAsync } from "../effects/sync-or-async.ts";
import type { UserCodeTimeout } from "../effects/user-code-timeout.ts";
import type { Deps } from "../setup/session-deps.ts";
import { internalError } from "../setup/user-code-errors.ts";
import { takenMessages } from "./check-media-input.ts";
import type { PreparedModel } from "./prepare-model-call.ts";

/** The assumed maximum of characters per token; text above it is rare. */
const charactersPerTokenMost = 8;

/** The history of a request. */
export type FittedHistory = Extract<BuiltHistory, FittedRequest>;

/** A call whose request is to be fitted. */
export interface FittingCall {
  readonly run: Run;
  readonly state: State;
  readonly prepared: PreparedModel;
  readonly sizes: MessageSizes | undefined;
  /** True if the vendor refused the previous attempt because the request was too long. */
  readonly overflowed: boolean;
}

/** Makes the messages of each request of a session, with the context engine of its agent if it has one. */
export class RequestFitting {
  readonly #deps: Deps;
  readonly #builder: RequestBuilder;
  #context: SessionContext | undefined;

  constructor(deps: Deps, builder: RequestBuilder) {
    this.#deps = deps;
    this.#builder = builder;
  }

  /** Runs the preparation of the context engine before the call is recorded. Synchronous unless the engine calls a model. */
  prepared(
    call: FittingCall,
    timeout: UserCodeTimeout,
    reserve: NonNullable<ContextPreparing["reserve"]>,
  ): SyncOrAsync<ContextPreparation | undefined> {
    const { state, prepared } = call;
    const context = prepared.messages ? undefined : this.#opened();
    if (!context?.prepare) return undefined;
    const history = this.#builder.historyAt(state);
    if (history.messages.length === 0) return undefined;
    const { logger } = this.#deps;
    const io = {
      logger,
      reserve,
      get signal() {
        return timeout.signal;
      },
    };
    return context.prepare(this.#callOf(call, history), io);
  }

  /** The failure; retryable if the request was too long and the engine can shorten it, at most once per turn. */
  repairable(
    failure: Failure,
    { admitted, prepared }: { readonly admitted: Pick<FittingCall, "overflowed">; readonly prepared: PreparedModel },
  ): Failure {
    const canShorten =
      failure.code === "CONTEXT_OVERFLOW" && !admitted.overflowed && !prepared.messages && this.#opened()?.prepare !== undefined;
    return canShorten ? { ...failure, retryable: true } : failure;
  }

  /** The history of the request, or the reason why there is none. */
  fitted(call: FittingCall): FittedHistory | { readonly failure: Failure } {
    const { state, prepared } = call;
    const { provider, request, messages, added } = prepared;
    try {
      const capabilities = provider.capabilities(request.model);
      const fit = this.#fitOf(call, capabilities.contextTokens);
      const built = messages ? this.#builder.buildFrom(messages, fit, added) : this.#builder.build(state, fit, added);
      if (built.messages && built.hasMedia) return { ...built, messages: takenMessages(built.messages, request.model, capabilities) };
      if (built.messages) return built;
      const message = built.failed ? "The conversation does not fit the model's window." : "There is nothing to answer.";
      return { failure: { code: built.failed ? "CONTEXT_OVERFLOW" : "INTERNAL", message, retryable: false } };
    } catch (error) {
      return { failure: failureOf(internalError(this.#deps, "The request could not be built", error)) };
    }
  }

  #fitOf(call: FittingCall, contextTokens: number | undefined): Fit {
    const { agent } = this.#deps.bound;
    const { sizes, prepared } = call;
    if (agent.context) {
      // If a hook chose other messages for this call, they must not enter the context of the session.
      const context = prepared.messages ? agent.context.open() : this.#opened();
      return (history) => context?.fit(this.#callOf(call, history));
    }
    const lengthMax = (contextTokens ?? Number.POSITIVE_INFINITY) * charactersPerTokenMost;
    const known = sizes ?? estimatedSizes;
    const { added, request } = prepared;
    const more = [...added.examples, ...addedBehind(added)];
    const beside = more.reduce((sum, message) => sum + known.sizeOf(message), known.sizeBeside(request));
    return ({ messages, textLength }) => (textLength + beside > lengthMax ? undefined : { messages });
  }

  #opened(): SessionContext | undefined {
    this.#context ??= this.#deps.bound.agent.context?.open();
    return this.#context;
  }

  #callOf({ run, state, prepared, sizes, overflowed }: FittingCall, history: BuildingHistory): ContextCall {
    const { access, sessionId } = this.#deps;
    const { provider, request, intent, added } = prepared;
    const compaction = state.compactions.at(-1);
    return {
      sessionId,
      runId: run.runId,
      turn: intent.turn,
      attempt: intent.attempt,
      access: run.access ?? access,
      labels: run.labels ?? {},
      provider,
      request,
      history,
      examples: added.examples,
      behind: addedBehind(added),
      sizes,
      ...(compaction ? { compactedAt: compaction.seq } : {}),
      overflowed,
    };
  }
}
