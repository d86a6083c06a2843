/*
 * Owns: what of a session's conversation a model call is sent. Does not own: the conversation (the log), what a vendor takes (the provider).
 * Invariants
 *  E1 a request keeps within its limit as the vendor counts, as far as anything can be cut;
 *  E2 what a request costs is what is new in it: no call looks at the whole history;
 *  E3 calls and their results stay together.
 */
import type { ContextCall, ContextEngine, FittedRequest, MessageSizes, SessionContext } from "@loopwright/core/ports";
import { Calibration } from "./calibration.ts";
import { type CheckedOptions, type ContextEngineOptions, checkedOptions } from "./context-options.ts";
import { cutBeside } from "./cut-beside.ts";
import { Cuts, type Room } from "./cuts.ts";
import { lightSizes, unitsPerToken } from "./sizes.ts";

/** Units of a token at the most: text outside this bound is rare. */
const unitsPerTokenMost = 8;
/** The share of the window that is kept free for the answer at the most. */
const answerShare = 0.25;

/**
 * Fits the requests of an agent into the window of its model, before every model call: `createAgent({ ..., context: contextEngine() })`. Sessions of
 * one agent share it.
 * @throws AgentError CONFIG_INVALID
 */
export function contextEngine(options: ContextEngineOptions = {}): ContextEngine {
  const checked = checkedOptions(options);
  return { open: () => new EngineContext(checked) };
}

/** What a call is fitted into. */
interface Window {
  readonly sizes: Pick<MessageSizes, "sizeOf" | "sizeBeside">;
  readonly room: Room;
  /** The size of the request beside its messages. */
  readonly beside: number;
  /** For everything, whatever the vendor's way of counting. */
  readonly most: number;
  readonly cut: Pick<FittedRequest, "system" | "tools">;
}

class EngineContext implements SessionContext {
  readonly #options: CheckedOptions;
  readonly #calibration = new Calibration();
  #cuts: Cuts | undefined;

  constructor(options: CheckedOptions) {
    this.#options = options;
  }

  fit(call: ContextCall): FittedRequest | undefined {
    const { messages } = call.history;
    this.#calibration.reads(messages);
    const window = this.#windowOf(call);
    if (!window) return { messages };
    const cuts = this.#cutsOf(call, window);
    const shown = cuts.fitted(window.room);
    const units = cuts.left + window.beside;
    if (units > window.most) return undefined;
    this.#calibration.sends(call.request.model, messages, units);
    return { ...window.cut, messages: shown };
  }

  #cutsOf({ history: { messages } }: ContextCall, { sizes }: Window): Cuts {
    if (!this.#cuts?.isOf(messages, sizes)) this.#cuts = new Cuts(messages, sizes);
    return this.#cuts;
  }

  /** `undefined`: the size of the window is unknown. */
  #windowOf(call: ContextCall): Window | undefined {
    const { provider, request } = call;
    const { contextTokens, outputTokensMax } = provider.capabilities(request.model);
    const limit = Math.min(contextTokens ?? Number.POSITIVE_INFINITY, this.#options.limitOf(call) ?? Number.POSITIVE_INFINITY);
    if (!Number.isFinite(limit)) return undefined;
    const sizes = call.sizes ?? lightSizes;
    const answer = Math.min(request.maxTokens ?? outputTokensMax ?? 0, limit * answerShare);
    const units = ((limit - answer) * unitsPerToken) / this.#calibration.ratioOf(request.model);
    const { budgets } = this.#options;
    const cut = cutBeside(request, { system: units * budgets.system, tools: units * budgets.tools });
    const beside = sizes.sizeBeside({ ...request, ...cut });
    const room = { all: units - beside, results: units * budgets.results, attachments: units * budgets.attachments };
    return { sizes, room, beside, most: limit * unitsPerTokenMost, cut };
  }
}
