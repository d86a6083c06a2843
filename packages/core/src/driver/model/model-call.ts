/*
 * Owns: one attempt of a model call, from the request to its end, its deadlines and its abort. Does not own: retries (the loop
 * decides), facts (the caller makes them).
 * Invariants
 *  M1 a stream without its `end` chunk is a failure, never an answer;
 *  M2 an answer is whole with its `end` chunk: whatever the connection does after it, nobody waits for it;
 *  M3 after `settle` nothing of the attempt is told any more, whatever the provider still does.
 */
import type { CallDeadlines } from "../../agent/agent.ts";
import { AgentError, type Failure, failureOf, isAgentError, vendorSaidBy } from "../../errors.ts";
import type { EphemeralBody } from "../../loop/event.ts";
import type { Timings } from "../../loop/fact.ts";
import { type Assembler, createAssembler } from "../../message/assemble.ts";
import type { ModelChunk } from "../../message/chunk.ts";
import type { AssistantPart } from "../../message/content.ts";
import { type ChunkMender, createChunkMender } from "../../message/mend-chunks.ts";
import type { StopReason } from "../../message/message.ts";
import { soundUsage, type Usage } from "../../message/usage.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ModelProvider, ModelRequest } from "../../ports/model-provider.ts";
import type { Lane } from "../live/hub.ts";
import { driverLimits } from "../setup/session-options.ts";
import { createAnswerBounds } from "./answer-bounds.ts";
import type { ChunkFilter } from "./filter-chunks.ts";
import { createModelTeller } from "./model-events.ts";
import { watchModelCall } from "./watchdog.ts";

export type ModelCallEnd = { readonly usage?: Usage; readonly timings: Timings } & (
  | {
      readonly type: "finished";
      readonly parts: readonly AssistantPart[];
      readonly stopReason: StopReason;
      readonly raw?: string;
      readonly message?: string;
      readonly model?: string;
    }
  | { readonly type: "aborted"; readonly parts: readonly AssistantPart[] }
  /** `parts`: what it had said by then. `vendorSaid`: what the vendor said of the failure, for operators alone. */
  | { readonly type: "failed"; readonly failure: Failure; readonly parts: readonly AssistantPart[]; readonly vendorSaid?: string }
);

export interface ModelCall {
  readonly end: Promise<ModelCallEnd>;
  /** Closes the request; the text so far is kept. */
  abort(): void;
  /** What was said so far, for those who join: text, and calls that are half written; the whole answer once it has ended. */
  snapshot(): EphemeralBody;
}

export interface ModelCallOptions {
  readonly provider: ModelProvider;
  readonly request: ModelRequest;
  readonly attempt: number;
  /** `<runId>.<turn>` */
  readonly callKeyPrefix: string;
  readonly clock: Clock;
  readonly deadlines: CallDeadlines;
  readonly filter?: ChunkFilter | undefined;
  /** Reports what a provider threw that is no AgentError, and makes one of it. */
  readonly broken: (error: unknown) => AgentError;
  readonly lane: () => Lane | undefined;
  /** Told once: the first piece of content has come. */
  readonly onAnswer?: () => void;
}

export function startModelCall(options: ModelCallOptions): ModelCall {
  const { clock, provider, request, lane, filter } = options;
  const assembler = createAssembler();
  const said = createSpeech(filter, provider.name);
  const teller = createModelTeller(assembler, filter?.holds);
  const controller = new AbortController();
  const startedAt = clock.monotonic();
  let firstTokenAt: number | undefined;
  let isSettled = false;
  let whole: readonly AssistantPart[] | undefined;
  let cancelDrain = (): void => {};
  const { promise: end, resolve: settle } = Promise.withResolvers<ModelCallEnd>();
  const watchdog = watchModelCall(options, (error) => finish({ error }));

  const take = (read: readonly ModelChunk[]): void => {
    const chunks = said.pass(read);
    for (const chunk of chunks) assembler.push(chunk);
    // What is held back has come all the same.
    if (read.some(isContent)) {
      if (firstTokenAt === undefined) {
        firstTokenAt = clock.monotonic();
        options.onAnswer?.();
      }
      watchdog.content();
    } else watchdog.alive();
    lane()?.emit(teller.tell(chunks));
    if (read.some(({ type }) => type === "end")) finish({});
  };

  const timings = (): Timings => {
    const totalMs = Math.round(clock.monotonic() - startedAt);
    const isStreamed = request.stream !== false && firstTokenAt !== undefined;
    return isStreamed ? { totalMs, firstTokenMs: Math.round((firstTokenAt ?? 0) - startedAt) } : { totalMs };
  };

  /** Ends the attempt once: properly, by an error, or by the abort. */
  const finish = (how: { readonly error?: unknown; readonly isAbort?: boolean }): void => {
    if (isSettled) return;
    isSettled = true;
    watchdog.stop();
    const { parts: all, usage: counted, ended } = assembler.finish(options.callKeyPrefix);
    const usage = soundUsage(counted);
    const base = { timings: timings(), ...(usage ? { usage } : {}) };
    const isProper = ended !== undefined && !how.isAbort && how.error === undefined;
    const { parts, error } = isProper ? finished(filter, all) : { parts: all, error: how.error };
    if (isProper && error === undefined) {
      whole = parts;
      lane()?.emit(teller.finish(parts));
      settle({ ...base, type: "finished", parts, ...ended });
      cancelDrain = clock.after(driverLimits.drainMs, () => controller.abort(), { idle: true });
      return;
    }
    // What a filter holds back of an answer that was cut off may be half of a match.
    const rest = filter ? [] : said.flush();
    for (const chunk of rest) assembler.push(chunk);
    lane()?.emit(teller.tell(rest));
    const partial = assembler.partial();
    const failed = failedBy(error ?? brokenStream(provider.name), options);
    settle(how.isAbort ? { ...base, type: "aborted", parts: partial } : { ...base, type: "failed", parts: partial, ...failed });
    if (error !== undefined || how.isAbort) controller.abort(error ?? new AgentError("RUN_ABORTED", { message: "The run was stopped." }));
  };

  const consume = async (): Promise<void> => {
    const iterator = provider.stream(request, { signal: controller.signal, attempt: options.attempt })[Symbol.asyncIterator]();
    for (let read = await iterator.next(); !read.done; read = await iterator.next()) {
      if (isSettled) return void iterator.return?.()?.then(undefined, () => {});
      take(read.value);
    }
  };
  consume()
    .then(
      () => finish({}),
      (error: unknown) => finish({ error: error ?? new Error("thrown nothing") }),
    )
    .finally(() => cancelDrain());
  return { end, abort: () => finish({ isAbort: true }), snapshot: () => snapshotOf(assembler, whole) };
}

/** `whole`: the answer, once it has ended. */
function snapshotOf(assembler: Assembler, whole: readonly AssistantPart[] | undefined): EphemeralBody {
  const calls = whole ? [] : assembler.calls();
  return { type: "message_snapshot", content: whole ?? assembler.partial(), ...(calls.length > 0 ? { calls } : {}) };
}

/** The stream as it is told and kept: within the limits of an answer, filtered, and well-formed before a filter sees it and after. */
function createSpeech(filter: ChunkFilter | undefined, provider: string): ChunkMender {
  const bounds = createAnswerBounds(provider);
  const whole = createChunkMender();
  const shown = filter ? createChunkMender() : whole;
  return {
    pass(chunks) {
      bounds.count(chunks);
      return filter ? shown.pass(filter.pass(whole.pass(chunks))) : whole.pass(chunks);
    },
    flush: () => shown.flush(),
  };
}

/** The parts of a complete answer as the filter leaves them, or what it threw. */
function finished(
  filter: ChunkFilter | undefined,
  parts: readonly AssistantPart[],
): { readonly parts: readonly AssistantPart[]; readonly error?: unknown } {
  try {
    return { parts: filter ? filter.finish(parts) : parts };
  } catch (error) {
    return { parts, error };
  }
}

/** A delta without a character is a sign of life and nothing more. */
function isContent(chunk: ModelChunk): boolean {
  if (chunk.type === "alive" || chunk.type === "usage") return false;
  return !("delta" in chunk) || chunk.delta !== "";
}

const brokenStream = (provider: string): AgentError =>
  new AgentError("MODEL_STREAM_BROKEN", { message: `The answer of ${provider} ended before it was complete.` });

/** How an attempt failed, and what its vendor said of it. */
function failedBy(error: unknown, { broken }: ModelCallOptions): { readonly failure: Failure; readonly vendorSaid?: string } {
  const vendorSaid = vendorSaidBy(error);
  const failure = soundFailure(failureOf(isAgentError(error) ? error : broken(error)));
  return { failure, ...(vendorSaid === undefined ? {} : { vendorSaid }) };
}

/** A wait that is no number, or lies in the past, is none. */
function soundFailure({ retryAfterMs, ...failure }: Failure): Failure {
  return retryAfterMs !== undefined && retryAfterMs > 0 ? { ...failure, retryAfterMs } : failure;
}
