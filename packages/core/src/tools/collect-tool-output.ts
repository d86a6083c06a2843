import { AgentError, isAgentError } from "../errors.ts";
import type { CallResult } from "../loop/fact.ts";
import type { ResultPart } from "../message/content.ts";
import type { Json } from "../message/json.ts";
import { cutPosition, wellFormed } from "../message/well-formed-text.ts";
import { headOf } from "./cut-text.ts";
import { type Filtering, filterStrings, runFiltering } from "./filter-inside-work.ts";
import { jsonHead } from "./json-head.ts";
import { cutStream, filteredBeyond, filterOutput, headThrough, type TextFilter } from "./normalise-output.ts";
import { toJson } from "./to-json.ts";
import type { ToolReturn } from "./tool.ts";
import { toolFailure } from "./tool-failure.ts";
import { toolLimits } from "./tool-limits.ts";

/** Listeners to a tool while it runs. */
export interface ToolListeners {
  /** Called with each delta before the result, at most `outputMax` characters in all. */
  readonly onDelta?: ((delta: string) => void) | undefined;
  /** Called with the reason when something is ignored: deltas after the completion, or details that are not JSON. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** Called with the error that the tool threw, unless it is an AgentError; its message is for operators alone. */
  readonly onThrown?: ((error: unknown) => void) | undefined;
}

export interface CollectOptions extends ToolListeners {
  /** The tool's name, for its errors. */
  readonly name: string;
  /** Default 100,000. */
  readonly outputMax?: number | undefined;
  /** Aborted when the run no longer waits for the tool: the result is then made at once of the output so far, with the signal's reason as the failure. */
  readonly abandon?: AbortSignal | undefined;
  /** The filter of every text before it is kept, streamed or cut. */
  readonly filter?: TextFilter | undefined;
}

/**
 * The one completion of a tool's return value: a value, a completion, a promise of either, or an iterable of events.
 * The output is the completed or returned value, or else the joined deltas. Never rejects: an error gives a result with the outcome `error` that keeps
 * the partial output. A streaming tool is read to its end, also after its completion.
 */
export async function collectOutput(returned: ToolReturn, options: CollectOptions): Promise<CallResult> {
  const collector = new Collector(options);
  const { abandon } = options;
  if (!abandon) return collector.collect(returned);
  let onAbort = (): void => {};
  const abandoned = new Promise<CallResult>((resolve) => {
    onAbort = () => resolve(collector.abandoned(abandon.reason));
    if (abandon.aborted) onAbort();
    else abandon.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([collector.collect(returned), abandoned]);
  } finally {
    abandon.removeEventListener("abort", onAbort);
  }
}

interface Completion {
  readonly output: unknown;
  readonly details?: unknown;
  readonly summary?: unknown;
}

type AnyIterator = AsyncIterator<unknown, unknown> | Iterator<unknown, unknown>;

/** The state of one collection. After an abort it publishes nothing more and closes the iterator. */
class Collector {
  private readonly pieces: string[] = [];
  private keptLength = 0;
  private totalLength = 0;
  private eventCount = 0;
  private ignoredCount = 0;
  /** The first half of a surrogate pair that a delta ended with. */
  private held = "";
  private completion: Completion | undefined;
  private iterator: AnyIterator | undefined;
  private isAbandoned = false;
  private readonly window: ReturnType<TextFilter["window"]> | undefined;
  private readonly outputMax: number;
  private readonly options: CollectOptions;

  constructor(options: CollectOptions) {
    this.options = options;
    this.outputMax = options.outputMax ?? toolLimits.outputMax;
    this.window = options.filter?.window();
  }

  async collect(returned: unknown): Promise<CallResult> {
    try {
      const value: unknown = await returned;
      const iterator = iteratorOf(value);
      if (iterator) await this.drain(iterator);
      else this.completion = completionOf(value);
      return await this.result();
    } catch (error) {
      this.close();
      if (!isAgentError(error)) this.options.onThrown?.(error);
      if (this.completion) {
        this.warn("the tool threw after it had completed; its result counts");
        return this.result();
      }
      return this.failed(error);
    }
  }

  abandoned(reason: unknown): Promise<CallResult> {
    this.isAbandoned = true;
    this.close();
    return this.completion ? this.result() : this.failed(reason);
  }

  private async drain(iterator: AnyIterator): Promise<void> {
    this.iterator = iterator;
    if (this.isAbandoned) return this.close();
    for (;;) {
      const step = await iterator.next();
      if (this.isAbandoned) return;
      if (step.done) {
        if (!this.completion && step.value !== undefined) this.completion = completionOf(step.value);
        break;
      }
      const taken = this.take(step.value);
      if (taken) await taken;
      if (this.isAbandoned) return;
    }
    await this.emit(this.held, true);
    if (this.ignoredCount > 0) this.warn(`${this.ignoredCount} events after the completion were ignored`);
  }

  private take(event: unknown): Promise<void> | undefined {
    if (++this.eventCount > toolLimits.eventCountMax) throw this.flood(`${toolLimits.eventCountMax} events`);
    if (this.completion) {
      this.ignoredCount++;
      return undefined;
    }
    const delta = deltaOf(event);
    if (delta !== undefined) return this.emit(delta, false);
    if (isCompletion(event)) this.completion = completionOf(event);
    else throw this.failure("yielded something that is neither a delta nor a completion", "Let it yield text, deltas and a completion.");
    return undefined;
  }

  /** Keeps and publishes the part of a delta within the limit, and holds back half a surrogate pair until the other half comes. */
  private emit(delta: string, isLast: boolean): Promise<void> | undefined {
    const whole = isLast ? delta : this.held + delta;
    this.held = isLast ? "" : whole.slice(cutPosition(whole, whole.length));
    const room = this.outputMax - this.keptLength;
    // The text is cut first. When the limit is reached, only the length of later text is counted.
    const given = headOf(whole, Math.min(whole.length - this.held.length, room <= 0 ? 0 : room + filteredBeyond));
    const isCut = given.length < whole.length - this.held.length;
    if (given === "" && !isLast && !isCut) return undefined;
    const text = wellFormed(given);
    const beyond = whole.length - this.held.length - given.length;
    const { filter } = this.options;
    if (!filter || room <= 0) return this.keep(text, { beyond, isCut });
    const shown = runFiltering(this.windowed(text, isLast && !isCut), filter.apply);
    if (typeof shown === "string") return this.keep(shown, { beyond, isCut });
    return shown.then((later) => this.keep(later, { beyond, isCut }));
  }

  private *windowed(text: string, isLast: boolean): Filtering<string> {
    const { window } = this;
    if (!window) return text;
    return (yield* window.push(text)) + (isLast ? yield* window.end() : "");
  }

  /** `beyond`: characters that were cut off before the filter. */
  private keep(text: string, { beyond, isCut }: { readonly beyond: number; readonly isCut: boolean }): undefined {
    const room = this.outputMax - this.keptLength;
    this.totalLength += text.length + beyond;
    if (this.totalLength > toolLimits.deltaTextMax) throw this.flood(`${toolLimits.deltaTextMax} characters`);
    const kept = headOf(text, Math.max(0, room));
    // After a cut no later text may be appended.
    this.keptLength = isCut || kept.length < text.length ? this.outputMax : this.keptLength + kept.length;
    if (kept === "" || this.isAbandoned) return undefined;
    this.pieces.push(kept);
    this.options.onDelta?.(kept);
    return undefined;
  }

  private async result(): Promise<CallResult> {
    try {
      return await this.completed();
    } catch (error) {
      return this.failed(error);
    }
  }

  /** Throws what the filter throws. */
  private async completed(): Promise<CallResult> {
    const { completion } = this;
    if (!completion || (completion.output === undefined && this.totalLength > 0))
      return { outcome: "ok", output: this.partial(), ...(await this.extras()) };
    const { filter } = this.options;
    const { parts, flaw } = await this.through(filterOutput(completion.output, this.outputMax, filter));
    if (parts) return { outcome: "ok", output: parts, ...(await this.extras()) };
    const message = `The tool \`${this.options.name}\` ran, but its output is not JSON: it holds ${flaw}.`;
    const error = new AgentError("TOOL_FAILED", { message, fix: "Let it return text, JSON or parts." });
    return this.failed(error);
  }

  /** Synchronous if the filter is. */
  private through<T>(work: Filtering<T>): T | Promise<T> {
    return runFiltering(work, this.options.filter?.apply ?? ((text) => text));
  }

  private failed(error: unknown): Promise<CallResult> {
    return filteredFailure(error, this.options, this.totalLength === 0 ? [] : this.partial());
  }

  private partial(): CallResult["output"] {
    return cutStream(this.pieces.join(""), this.totalLength);
  }

  private async extras(): Promise<Pick<CallResult, "details" | "summary">> {
    const { details, summary } = this.completion ?? {};
    const kept: { details?: NonNullable<CallResult["details"]>; summary?: string } = {};
    if (typeof summary === "string" && summary !== "")
      kept.summary = headOf(await this.through(headThrough(summary, this.outputMax, this.options.filter)), this.outputMax);
    if (details === undefined || details === null) return kept;
    const json = toJson(details, { name: "details", textMax: toolLimits.detailsTextMax });
    if (json.flaw !== undefined) this.warn(`its details were dropped: they hold ${json.flaw}`);
    else if (jsonHead(json.value, toolLimits.detailsTextMax).length > toolLimits.detailsTextMax)
      this.warn("its details were dropped: too large");
    else if (json.value !== null) kept.details = (await this.through(filterStrings(json.value))) as NonNullable<Json>;
    return kept;
  }

  /** Closes a generator, so that its `finally` runs, without waiting for it. */
  private close(): void {
    const { iterator } = this;
    this.iterator = undefined;
    if (!iterator?.return) return;
    try {
      Promise.resolve(iterator.return(undefined)).catch(() => {});
    } catch {
      // The result exists already; an error of the clean-up cannot change it.
    }
  }

  private flood(what: string): AgentError {
    return this.failure(`was stopped: it yielded more than ${what}`, "Let it yield less.");
  }

  private failure(what: string, fix: string): AgentError {
    return new AgentError("TOOL_FAILED", { message: `The tool \`${this.options.name}\` ${what}.`, fix });
  }

  private warn(message: string): void {
    this.options.onWarning?.(`Tool \`${this.options.name}\`: ${message}.`);
  }
}

/** The result with the filtered text of the failure after the kept output. Never throws: if the filter fails, that is the failure. */
export async function filteredFailure(
  error: unknown,
  { name, filter }: Pick<CollectOptions, "name" | "filter">,
  kept: CallResult["output"] = [],
): Promise<CallResult> {
  const result = toolFailure(error, { name }, kept);
  const { failure, output } = result;
  // The message about a failed filter comes from core, so it is not filtered.
  if (!filter || !failure || failure.code === "HOOK_FAILED") return result;
  const mend = async (part: ResultPart): Promise<ResultPart> =>
    part.type === "text" ? { ...part, text: await filter.apply(part.text) } : part;
  try {
    const words = await Promise.all(output.slice(kept.length).map(mend));
    return { ...result, output: [...kept, ...words], failure: { ...failure, message: await filter.apply(failure.message) } };
  } catch (thrown) {
    return toolFailure(thrown, { name }, kept);
  }
}

function iteratorOf(value: unknown): AnyIterator | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Symbol.asyncIterator in value) return (value as AsyncIterable<unknown, unknown>)[Symbol.asyncIterator]();
  // Only a generator is read as a stream; lists and other iterables are values.
  if (Symbol.iterator in value && "next" in value) return (value as Iterable<unknown, unknown>)[Symbol.iterator]();
  return undefined;
}

function deltaOf(event: unknown): string | undefined {
  if (typeof event === "string") return event;
  if (typeof event !== "object" || event === null) return undefined;
  if ("stream" in event && typeof event.stream === "string" && Object.keys(event).length === 1) return event.stream;
  if (!("type" in event) || event.type !== "delta") return undefined;
  return "delta" in event && typeof event.delta === "string" ? event.delta : undefined;
}

function completionOf(value: unknown): Completion {
  if (!isCompletion(value)) return { output: value };
  // The members are read once, here, so that a getter that throws fails the call like an error of the tool.
  const { output, details, summary } = value;
  return { output, details, summary };
}

const completionKeys: ReadonlySet<string> = new Set(["type", "output", "details", "summary"]);

/** Recognised by its `type` and by the absence of other keys, because data of a tool may have a field `type`. */
function isCompletion(value: unknown): value is Completion {
  if (typeof value !== "object" || value === null || !("type" in value) || value.type !== "complete") return false;
  return Object.keys(value).every((key) => completionKeys.has(key));
}
