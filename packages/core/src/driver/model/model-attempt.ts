/*
 * Owns: one attempt of a model call, from the request to its end, with its deadlines and its abort.
 * Does not own: retries (the loop decides), facts (the caller makes them).
 * Invariants
 *  M1 a stream without its `end` chunk is a failure, never an answer;
 *  M2 an answer is complete with its `end` chunk: the end of the connection is not waited for;
 *  M3 after `settle` nothing of the attempt is published, even if the provider sends more.
 */
import type { CallDeadlines } from "../../agent/agent-limits.ts";
import { AgentError, type Failure, failureOf, isAgentError, vendorMessageOf } from "../../errors.ts";
import type { EphemeralBody } from "../../loop/event.ts";
import type { Timings } from "../../loop/fact.ts";
import { type Assembler, createAssembler } from "../../message/assemble-message.ts";
import type { ModelChunk } from "../../message/chunk.ts";
import type { AssistantPart } from "../../message/content.ts";
import { type ChunkMender, createChunkMender } from "../../message/mend-chunks.ts";
import type { StopReason } from "../../message/message.ts";
import { soundUsage, type Usage } from "../../message/usage.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ModelProvider, ModelRequest } from "../../ports/model-provider.ts";
import { andThen, type SyncOrAsync } from "../effects/sync-or-async.ts";
import type { Lane } from "../live/event-hub.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import { type AnswerBounds, createAnswerBounds } from "./answer-size-limits.ts";
import type { ChunkFilter } from "./filter-model-chunks.ts";
import { type Watchdog, watchModelCall } from "./model-deadlines.ts";
import { createModelPublisher, type ModelPublisher } from "./publish-model-events.ts";

export type ModelAttemptEnd = {
  readonly usage?: Usage;
  readonly timings: Timings;
  /** True if the time limit of the run has ended the attempt. */
  readonly isCut?: true;
} & (
  | {
      readonly type: "finished";
      readonly parts: readonly AssistantPart[];
      readonly stopReason: StopReason;
      readonly raw?: string;
      readonly message?: string;
      readonly model?: string;
    }
  | { readonly type: "aborted"; readonly parts: readonly AssistantPart[] }
  /**
   * `parts`: the content so far. `vendorMessage`: the vendor's message about the failure, for operators alone. `isSpent`: the process may not make the
   * call again with this model.
   */
  | {
      readonly type: "failed";
      readonly failure: Failure;
      readonly parts: readonly AssistantPart[];
      readonly vendorMessage?: string;
      readonly isSpent?: true;
    }
);

export interface ModelAttempt {
  readonly end: Promise<ModelAttemptEnd>;
  /** Closes the request; the text so far is kept. */
  abort(): void;
  /** The content so far, for readers that join: text, and calls that are half written; the whole answer once it has ended. */
  snapshot(): EphemeralBody;
}

export interface ModelAttemptOptions {
  readonly provider: ModelProvider;
  readonly request: ModelRequest;
  readonly attempt: number;
  /** `<runId>.<turn>` */
  readonly callKeyPrefix: string;
  readonly clock: Clock;
  readonly deadlines: CallDeadlines;
  /** The time after which the limit of the run ends the attempt. With `keepsText` the text received before that is the answer. */
  readonly cut?: TimeCut | undefined;
  readonly filter?: ChunkFilter | undefined;
  /** True if nothing is published before the attempt has ended. */
  readonly isHeld?: boolean;
  /** Reports an error of a provider that is no AgentError, and returns an AgentError for it. */
  readonly broken: (error: unknown) => AgentError;
  readonly lane: () => Lane | undefined;
  /** Called once, when the first piece of content has arrived. */
  readonly onAnswer?: () => void;
}

/** The time limit of a run, for one of its calls. */
export interface TimeCut {
  readonly afterMs: number;
  readonly error: AgentError;
  readonly keepsText: boolean;
}

export function startModelAttempt(options: ModelAttemptOptions): ModelAttempt {
  return new StartedModelCall(options);
}

/** How an attempt ends: with an answer, with an error, or by the abort. */
interface Ending {
  readonly error?: unknown;
  readonly isAbort?: boolean;
}

/** A class, because closures for its steps took twice the memory, and a process may have a thousand calls at once. */
class StartedModelCall implements ModelAttempt {
  readonly end: Promise<ModelAttemptEnd>;
  readonly #options: ModelAttemptOptions;
  readonly #assembler: Assembler = createAssembler();
  readonly #speech: Speech;
  readonly #publisher: ModelPublisher;
  readonly #controller = new AbortController();
  readonly #startedAt: number;
  readonly #watchdog: Watchdog;
  #settle!: (end: ModelAttemptEnd) => void;
  #firstTokenAt: number | undefined;
  #isSettled = false;
  /** The answer, once it has ended. */
  #whole: readonly AssistantPart[] | undefined;
  #cancelDrain: (() => void) | undefined;

  constructor(options: ModelAttemptOptions) {
    const { clock, provider, filter } = options;
    this.#options = options;
    this.#speech = new Speech(filter, provider.name);
    this.#publisher = createModelPublisher(this.#assembler, filter && ((index) => filter.holds(index)));
    this.#startedAt = clock.monotonic();
    this.end = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#watchdog = watchModelCall(options, (error) => this.#finish({ error }));
    void this.#run();
  }

  abort(): void {
    this.#finish({ isAbort: true });
  }

  snapshot(): EphemeralBody {
    if (this.#options.isHeld) return { type: "message_snapshot", content: [] };
    const calls = this.#whole ? [] : this.#assembler.calls();
    return { type: "message_snapshot", content: this.#whole ?? this.#assembler.partial(), ...(calls.length > 0 ? { calls } : {}) };
  }

  async #run(): Promise<void> {
    try {
      await this.#consume();
      this.#finish({});
    } catch (error) {
      this.#finish({ error: error ?? new Error("thrown nothing") });
    }
    this.#cancelDrain?.();
  }

  async #consume(): Promise<void> {
    const { provider, request, attempt } = this.#options;
    const iterator = provider.stream(request, { signal: this.#controller.signal, attempt })[Symbol.asyncIterator]();
    for (let read = await iterator.next(); !read.done; read = await iterator.next()) {
      if (this.#isSettled) return void iterator.return?.()?.then(undefined, () => {});
      const taken = this.#take(read.value);
      if (taken) await taken;
    }
  }

  /** Takes chunks of the stream. Returns a promise if the filter is asynchronous. */
  #take(read: readonly ModelChunk[]): Promise<void> | undefined {
    const { clock, onAnswer } = this.#options;
    const chunks = this.#speech.pass(read);
    // Content that the filter holds back counts as received.
    if (read.some(isContent)) {
      if (this.#firstTokenAt === undefined) {
        this.#firstTokenAt = clock.monotonic();
        onAnswer?.();
      }
      this.#watchdog.content();
    } else this.#watchdog.alive();
    if (!(chunks instanceof Promise)) return this.#show(read, chunks);
    this.#watchdog.pause();
    return chunks
      .then((shown) => {
        if (!this.#isSettled) this.#show(read, shown);
      })
      .finally(() => this.#watchdog.resume());
  }

  #show(read: readonly ModelChunk[], chunks: readonly ModelChunk[]): undefined {
    for (const chunk of chunks) this.#assembler.push(chunk);
    this.#publish(chunks);
    if (read.some(isEnd)) this.#finish({});
  }

  #publish(chunks: readonly ModelChunk[]): void {
    const lane = this.#options.lane();
    if (!lane || this.#options.isHeld) return;
    if (lane.isReceived) lane.emit(this.#publisher.publish(chunks));
    else if (this.#publisher.passOver(chunks)) lane.passOver();
  }

  #timings(): Timings {
    const { clock, request } = this.#options;
    const totalMs = Math.round(clock.monotonic() - this.#startedAt);
    if (request.stream === false || this.#firstTokenAt === undefined) return { totalMs };
    return { totalMs, firstTokenMs: Math.round(this.#firstTokenAt - this.#startedAt) };
  }

  /** Ends the attempt once. */
  #finish(how: Ending): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#watchdog.stop();
    const { callKeyPrefix, filter } = this.#options;
    const { parts: all, usage: counted, ended } = this.#assembler.finish(callKeyPrefix);
    const usage = soundUsage(counted);
    const base: Pick<ModelAttemptEnd, "usage" | "timings"> = { timings: this.#timings(), ...(usage ? { usage } : {}) };
    const isProper = ended !== undefined && !how.isAbort && how.error === undefined;
    if (!isProper) {
      this.#finishEarly(base, how);
      return;
    }
    void andThen(finished(filter, all), ({ parts, error }) => {
      if (error === undefined) this.#finishWhole({ ...base, type: "finished", parts, ...ended });
      else this.#finishEarly(base, { error });
    });
  }

  #finishWhole(end: Extract<ModelAttemptEnd, { type: "finished" }>): void {
    const { lane, clock, isHeld } = this.#options;
    this.#whole = end.parts;
    if (!isHeld) lane()?.emit(this.#publisher.finish(end.parts));
    this.#settle(end);
    this.#cancelDrain = clock.after(driverLimits.drainMs, () => this.#controller.abort(), { idle: true });
  }

  #finishEarly(base: Pick<ModelAttemptEnd, "usage" | "timings">, { error, isAbort = false }: Ending): void {
    const { filter, lane, provider, isHeld, cut } = this.#options;
    // The held-back text of an answer that was cut off is dropped, because it may be half of a match.
    const rest = filter ? [] : this.#speech.flush();
    for (const chunk of rest) this.#assembler.push(chunk);
    if (!isHeld) lane()?.emit(this.#publisher.publish(rest));
    const partial = isHeld ? [] : this.#assembler.partial();
    if (isAbort) this.#settle({ ...base, type: "aborted", parts: partial });
    else if (cut?.keepsText && error === cut.error && hasText(partial)) {
      this.#whole = partial;
      if (!isHeld) lane()?.emit(this.#publisher.finish(partial));
      this.#settle({ ...base, type: "finished", parts: partial, stopReason: "length", isCut: true });
    } else {
      const failed = failedBy(error ?? brokenStream(provider.name), this.#options);
      this.#settle({ ...base, type: "failed", parts: partial, ...failed, ...(cut && error === cut.error ? { isCut: true } : {}) });
    }
    if (error !== undefined || isAbort) this.#controller.abort(error ?? new AgentError("RUN_ABORTED", { message: "The run was stopped." }));
  }
}

const hasText = (parts: readonly AssistantPart[]): boolean => parts.some((part) => part.type === "text" && part.text.trim() !== "");

const isEnd = ({ type }: ModelChunk): boolean => type === "end";

/** The stream in the form that is published and kept: within the limits of an answer, filtered, and well-formed before and after the filter. */
class Speech implements Pick<ChunkMender, "flush"> {
  readonly #bounds: AnswerBounds;
  readonly #whole: ChunkMender = createChunkMender();
  readonly #shown: ChunkMender;
  readonly #filter: ChunkFilter | undefined;

  constructor(filter: ChunkFilter | undefined, provider: string) {
    this.#bounds = createAnswerBounds(provider);
    this.#shown = filter ? createChunkMender() : this.#whole;
    this.#filter = filter;
  }

  pass(chunks: readonly ModelChunk[]): SyncOrAsync<readonly ModelChunk[]> {
    this.#bounds.count(chunks);
    const whole = this.#whole.pass(chunks);
    return this.#filter ? andThen(this.#filter.pass(whole), (shown) => this.#shown.pass(shown)) : whole;
  }

  flush(): readonly ModelChunk[] {
    return this.#shown.flush();
  }
}

/** The filtered parts of a complete answer, or the error of the filter. */
function finished(filter: ChunkFilter | undefined, parts: readonly AssistantPart[]): SyncOrAsync<FinishedParts> {
  try {
    const shown = filter ? filter.finish(parts) : parts;
    if (!(shown instanceof Promise)) return { parts: shown };
    return shown.then(
      (mended) => ({ parts: mended }),
      (error: unknown) => ({ parts, error }),
    );
  } catch (error) {
    return { parts, error };
  }
}

interface FinishedParts {
  readonly parts: readonly AssistantPart[];
  readonly error?: unknown;
}

/** True if the chunk has content. A delta without a character is only a sign of life. */
function isContent(chunk: ModelChunk): boolean {
  if (chunk.type === "alive" || chunk.type === "usage") return false;
  return !("delta" in chunk) || chunk.delta !== "";
}

const brokenStream = (provider: string): AgentError =>
  new AgentError("MODEL_STREAM_BROKEN", { message: `The answer of ${provider} ended before it was complete.` });

/** The failure of an attempt, and the vendor's message about it. */
function failedBy(error: unknown, { broken }: ModelAttemptOptions): { readonly failure: Failure; readonly vendorMessage?: string } {
  const vendorMessage = vendorMessageOf(error);
  const failure = soundFailure(failureOf(isAgentError(error) ? error : broken(error)));
  return { failure, ...(vendorMessage === undefined ? {} : { vendorMessage }) };
}

/** The failure, without its wait if the wait is not a positive number. */
function soundFailure({ retryAfterMs, ...failure }: Failure): Failure {
  return retryAfterMs !== undefined && retryAfterMs > 0 ? { ...failure, retryAfterMs } : failure;
}
