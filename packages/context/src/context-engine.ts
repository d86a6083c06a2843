/*
 * Owns: what of a session's conversation a model call is sent. Does not own: the conversation (the log), what a vendor takes (the provider).
 * Invariants
 *  E1 a request keeps within its limit as the vendor counts, as far as anything can be cut;
 *  E2 what a request costs is what is new in it: no call looks at the whole history;
 *  E3 calls and their results stay together;
 *  E4 a process that takes the session over learns from the log what the one before had learned, and cuts the same.
 */
import { type AgentError, type AssistantMessage, isAgentError, type Message, textOf } from "@loopwright/core";
import type {
  ContextCall,
  ContextCompaction,
  ContextEngine,
  ContextPreparation,
  ContextPreparing,
  FittedRequest,
  MessageSizes,
  SessionContext,
} from "@loopwright/core/ports";
import { Calibration } from "./calibration.ts";
import { Compactor } from "./compactor.ts";
import { type CheckedOptions, type ContextEngineOptions, checkedOptions } from "./context-options.ts";
import { cutBeside } from "./cut-beside.ts";
import { Cuts, type Room } from "./cuts.ts";
import { fittingExamples } from "./fitting-examples.ts";
import { lightSizes, unitsOf, unitsPerToken } from "./sizes.ts";

/** Units of a token at the most: text outside this bound is rare. */
const unitsPerTokenMost = 8;
/** The share of the window that is kept free for the answer at the most. */
const answerShare = 0.25;

/** A context engine that compacts on request. */
export interface CompactingEngine extends ContextEngine {
  /** The next model call of the session in this process compacts its history first, however much room there is. */
  compact(sessionId: string): void;
}

/**
 * Fits the requests of an agent into the window of its model, before every model call: `createAgent({ ..., context: contextEngine() })`. Agents may
 * share it.
 * @throws AgentError CONFIG_INVALID
 */
export function contextEngine(options: ContextEngineOptions = {}): CompactingEngine {
  const checked = checkedOptions(options);
  const wanted = new Set<string>();
  return { open: () => new EngineContext(checked, wanted), compact: (sessionId) => void wanted.add(sessionId) };
}

/** What a call is fitted into. */
interface Window {
  readonly sizes: Pick<MessageSizes, "sizeOf" | "sizeBeside">;
  /** Tokens of the request and its answer. Infinite: the window is unknown. */
  readonly limit: number;
  readonly room: Room;
  /** The size of the request beside its history. */
  readonly beside: number;
  /** The part of it that examples have. */
  readonly ofExamples: number;
  readonly cut: Pick<FittedRequest, "system" | "tools"> & { readonly examples: readonly Message[] };
}

class EngineContext implements SessionContext {
  readonly #options: CheckedOptions;
  /** Sessions whose next call compacts. */
  readonly #wanted: Set<string>;
  readonly #calibration = new Calibration();
  readonly #compactor: Compactor | undefined;
  #cuts: Cuts | undefined;
  #isLearned = false;
  #examplesLeftOut = 0;

  constructor(options: CheckedOptions, wanted: Set<string>) {
    this.#options = options;
    this.#wanted = wanted;
    this.#compactor = options.compaction && new Compactor(options.compaction);
  }

  prepare(call: ContextCall, io: ContextPreparing): ContextPreparation | undefined | Promise<ContextPreparation | undefined> {
    try {
      return this.#prepared(call, io);
    } catch (error) {
      const cause = isAgentError(error, "HOOK_FAILED") ? (error.cause ?? error.message) : undefined;
      if (cause !== undefined)
        io.logger.log("error", (error as AgentError).message, {
          session: call.sessionId,
          error: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause),
        });
      throw error;
    }
  }

  #prepared(call: ContextCall, io: ContextPreparing): ContextPreparation | undefined | Promise<ContextPreparation | undefined> {
    this.#learn(call);
    if (call.overflowed) this.#calibration.refused(call.request.model, this.#limitOf(call));
    else this.#calibration.reads(call.history.messages);
    const window = this.#windowOf(call);
    this.#reportExamples(call, window, io);
    const [earlier, cuts] = [this.#cuts, this.#cutsOf(call, window)];
    const cutBefore = cuts.cutCount;
    cuts.take(window.room);
    const notes = [noteOf(call, cuts, io), cuts === earlier ? cutNote(cuts.cutCount - cutBefore) : undefined].filter(
      (note) => note !== undefined,
    );
    const isWanted = this.#wanted.delete(call.sessionId);
    const { units, left, isTight } = cuts;
    const request = { units, left, isTight, room: window.room.all, beside: window.beside, isWanted };
    const compaction = this.#compactor?.compacted(call, request, io);
    return compaction instanceof Promise ? compaction.then((one) => preparation(one, notes)) : preparation(compaction, notes);
  }

  fit(call: ContextCall): FittedRequest | undefined {
    const { messages } = call.history;
    this.#learn(call);
    this.#calibration.reads(messages);
    const window = this.#windowOf(call);
    const cuts = this.#cutsOf(call, window);
    const shown = cuts.fitted(window.room);
    // Where the history cannot be cut any further, examples give way.
    const over = Math.max(0, cuts.left - window.room.all);
    const { examples, units: ofExamples } = fittingExamples(window.cut.examples, window.ofExamples - over, window.sizes);
    const units = cuts.left + window.beside - window.ofExamples + ofExamples;
    if (units > window.limit * unitsPerTokenMost) return undefined;
    this.#calibration.sends(call.request.model, messages, units);
    return { ...window.cut, examples, messages: shown };
  }

  /** At the first call: what the vendor has reported of the answers in the history, and what was cut for each of them. */
  #learn(call: ContextCall): void {
    if (this.#isLearned) return;
    this.#isLearned = true;
    const { history, request } = call;
    let window = this.#windowOf(call);
    const cuts = this.#cutsOf(call, window);
    for (let place = 1; place < history.messages.length; place++) {
      const answer = answerTo(call, place);
      if (!answer) continue;
      cuts.fitted(window.room, place);
      if (this.#calibration.learns(request.model, { answer, units: cuts.left + window.beside })) window = this.#windowOf(call);
    }
  }

  #cutsOf({ history: { messages } }: ContextCall, { sizes }: Window): Cuts {
    if (!this.#cuts?.isOf(messages, sizes)) this.#cuts = new Cuts(messages, sizes);
    return this.#cuts;
  }

  /** Examples are of the application: its operators read which of them no model has seen. */
  #reportExamples({ examples, sessionId }: ContextCall, { cut }: Window, { logger }: ContextPreparing): void {
    const leftOut = examples.length - cut.examples.length;
    if (leftOut > this.#examplesLeftOut)
      logger.log("warn", "Examples of a hook do not fit into their share of the window, and the last ones are not sent.", {
        session: sessionId,
        messages: leftOut,
      });
    this.#examplesLeftOut = leftOut;
  }

  #limitOf(call: ContextCall): number {
    const { contextTokens = 0 } = call.provider.capabilities(call.request.model);
    // A window of no tokens is an unknown one.
    return Math.min(contextTokens > 0 ? contextTokens : Number.POSITIVE_INFINITY, this.#options.limitOf(call) ?? Number.POSITIVE_INFINITY);
  }

  #windowOf(call: ContextCall): Window {
    const { provider, request } = call;
    const limit = this.#limitOf(call);
    const sizes = call.sizes ?? lightSizes;
    const answer = Math.min(request.maxTokens ?? provider.capabilities(request.model).outputTokensMax ?? 0, limit * answerShare);
    const units = ((limit - answer) * unitsPerToken) / this.#calibration.ratioOf(request.model);
    const { budgets } = this.#options;
    const cut = cutBeside(request, { system: units * budgets.system, tools: units * budgets.tools });
    const { examples, units: ofExamples } = fittingExamples(call.examples, units * budgets.examples, sizes);
    const beside = call.behind.reduce((sum, message) => sum + sizes.sizeOf(message), sizes.sizeBeside({ ...request, ...cut }) + ofExamples);
    const room = { all: units - beside, results: units * budgets.results, attachments: units * budgets.attachments };
    return { sizes, limit, room, beside, ofExamples, cut: { ...cut, examples } };
  }
}

/** The answer at the place, if the model of this call gave it to what stands before it. */
function answerTo(
  { history: { messages, ids }, provider, request, compactedAt = 0 }: ContextCall,
  place: number,
): AssistantMessage | undefined {
  const answer = messages[place];
  const id = ids[place];
  if (answer?.role !== "assistant" || id === undefined || Number.parseInt(id, 10) < compactedAt) return undefined;
  const isOfModel = answer.model === request.model || answer.model?.startsWith(`${request.model}-`);
  return answer.provider === provider.name && isOfModel ? answer : undefined;
}

type Note = NonNullable<ContextPreparation["notes"]>[number];

function preparation(compaction: ContextCompaction | undefined, notes: readonly Note[]): ContextPreparation | undefined {
  if (!compaction && notes.length === 0) return undefined;
  return { ...(compaction ? { compaction } : {}), ...(notes.length > 0 ? { notes } : {}) };
}

/** What people read about results and attachments that are sent shortened from now on. */
function cutNote(count: number): Note | undefined {
  if (count <= 0) return undefined;
  const reason = `${count === 1 ? "One earlier result or attachment is" : `${count} earlier results and attachments are`} shortened to fit the model's window.`;
  return { action: "cut", reason };
}

/** What the user reads about a new input that is sent without its middle: once, before its first answer. */
function noteOf({ history: { messages }, attempt, sessionId }: ContextCall, cuts: Cuts, { logger }: ContextPreparing): Note | undefined {
  if (attempt !== 1) return undefined;
  for (let place = messages.length - 1; place >= 0; place--) {
    const message = messages[place] as Message;
    if (message.role === "assistant") return undefined;
    if (message.role !== "user" || !cuts.cutAt(place)) continue;
    const tokens = Math.ceil(unitsOf(message) / unitsPerToken);
    if (textOf(cuts.cutAt(place) as Message) === textOf(message)) {
      logger.log("warn", "USER_FILES_TOO_LARGE: of the files of a message only the beginnings are sent.", { session: sessionId, tokens });
      return {
        action: "cut_files",
        reason: `This message of about ${tokens} tokens is too long for the model: only the beginnings of its files are sent.`,
      };
    }
    logger.log("warn", "USER_MESSAGE_TOO_LARGE: a message is sent without its middle.", { session: sessionId, tokens });
    const reason = `This message of about ${tokens} tokens is too long for the model: it is sent without its middle.`;
    return { action: "cut_input", reason };
  }
  return undefined;
}
