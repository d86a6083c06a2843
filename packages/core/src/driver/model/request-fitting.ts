import { type Failure, failureOf } from "../../errors.ts";
import type { Run, State } from "../../loop/state.ts";
import type { ContextCall, FittedRequest, MessageSizes, SessionContext } from "../../ports/context-engine.ts";
import { estimatedSizes } from "../../prompt/message-length.ts";
import type { BuildingHistory, BuiltHistory, Fit, RequestBuilder } from "../../prompt/request-builder.ts";
import type { Deps } from "../setup/deps.ts";
import { internalError } from "../setup/user-code.ts";
import { withoutVision } from "./check-vision.ts";
import type { PreparedModel } from "./prepare-model.ts";

/** Characters of a token at the most: text outside this bound is rare. */
const charactersPerTokenMost = 8;

/** The history of a request. */
export type FittedHistory = Extract<BuiltHistory, FittedRequest>;

/** A call whose request is about to be sent. */
export interface SendingCall {
  readonly run: Run;
  readonly state: State;
  readonly prepared: PreparedModel;
  readonly sizes: MessageSizes | undefined;
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

  /** The history of the request, or the reason why there is none. */
  fitted(call: SendingCall): FittedHistory | { readonly failure: Failure } {
    const { state, prepared } = call;
    const { provider, request, messages } = prepared;
    try {
      const { contextTokens, vision } = provider.capabilities(request.model);
      const fit = this.#fitOf(call, contextTokens);
      const built = messages ? this.#builder.buildFrom(messages, fit) : this.#builder.build(state, fit);
      if (built.messages) return built.hasImages && !vision ? { failure: failureOf(withoutVision(request.model)) } : built;
      const message = built.failed ? "The conversation does not fit the model's window." : "There is nothing to answer.";
      return { failure: { code: built.failed ? "CONTEXT_OVERFLOW" : "INTERNAL", message, retryable: false } };
    } catch (error) {
      return { failure: failureOf(internalError(this.#deps, "The request could not be built", error)) };
    }
  }

  #fitOf(call: SendingCall, contextTokens: number | undefined): Fit {
    const { agent } = this.#deps.bound;
    const { sizes, prepared } = call;
    if (agent.context) {
      // A conversation that a hook chose for this call is not the session's.
      const context = prepared.messages ? agent.context.open() : this.#opened();
      return (history) => context?.fit(this.#callOf(call, history));
    }
    const lengthMax = (contextTokens ?? Number.POSITIVE_INFINITY) * charactersPerTokenMost;
    const beside = (sizes ?? estimatedSizes).sizeBeside(prepared.request);
    return ({ messages, textLength }) => (textLength + beside > lengthMax ? undefined : { messages });
  }

  #opened(): SessionContext | undefined {
    this.#context ??= this.#deps.bound.agent.context?.open();
    return this.#context;
  }

  #callOf({ run, prepared, sizes }: SendingCall, history: BuildingHistory): ContextCall {
    const { access, sessionId } = this.#deps;
    const { provider, request, intent } = prepared;
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
      sizes,
    };
  }
}
