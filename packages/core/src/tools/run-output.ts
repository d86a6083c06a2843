import type { ToolReturn } from "../agent/tool.ts";
import { AgentError } from "../errors.ts";
import type { CallResult } from "../loop/fact.ts";
import { wellFormed } from "../message/well-formed.ts";
import { headOf } from "./cut-text.ts";
import { cutStream, normaliseOutput } from "./normalise-output.ts";
import { toJson } from "./to-json.ts";
import { toolFailure } from "./tool-failure.ts";
import { toolLimits } from "./tool-limits.ts";

export interface CollectOptions {
  /** The tool's name, for its errors. */
  readonly name: string;
  /** Told each delta before the result, at most `outputMax` characters in all. */
  readonly onDelta?: ((delta: string) => void) | undefined;
  /** Default 100,000. */
  readonly outputMax?: number | undefined;
  /** Aborted when nobody waits for the tool any longer: the result is then made at once of what came, with the signal's reason as its failure. */
  readonly abandon?: AbortSignal | undefined;
  /** Told what was ignored: deltas after the completion, details that are no JSON. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/**
 * The one completion of whatever a tool returned: a value, a completion, a promise of either, or an iterable of events.
 * Output is what was completed or returned, else the concatenation of the deltas. Never rejects: what goes wrong is a
 * result with outcome `error` that keeps the partial output. A streaming tool is read to its end, also after it completed.
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

/** The state of one collection. Once abandoned it hands on nothing more and closes the iterator. */
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
  private readonly outputMax: number;
  private readonly options: CollectOptions;

  constructor(options: CollectOptions) {
    this.options = options;
    this.outputMax = options.outputMax ?? toolLimits.outputMax;
  }

  async collect(returned: unknown): Promise<CallResult> {
    try {
      const value: unknown = await returned;
      const iterator = iteratorOf(value);
      if (iterator) await this.drain(iterator);
      else this.completion = completionOf(value);
      return this.result();
    } catch (error) {
      this.close();
      if (this.completion) {
        this.warn("the tool threw after it had completed; its result counts");
        return this.result();
      }
      return toolFailure(error, this.options, this.totalLength === 0 ? [] : this.partial());
    }
  }

  abandoned(reason: unknown): CallResult {
    this.isAbandoned = true;
    this.close();
    return this.completion ? this.result() : toolFailure(reason, this.options, this.totalLength === 0 ? [] : this.partial());
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
      this.take(step.value);
    }
    this.emit(this.held, true);
    if (this.ignoredCount > 0) this.warn(`${this.ignoredCount} events after the completion were ignored`);
  }

  private take(event: unknown): void {
    if (++this.eventCount > toolLimits.eventCountMax) throw this.flood(`${toolLimits.eventCountMax} events`);
    if (this.completion) {
      this.ignoredCount++;
      return;
    }
    const delta = deltaOf(event);
    if (delta !== undefined) this.emit(delta, false);
    else if (isCompletion(event)) this.completion = event;
    else throw new Error("it yielded something that is neither a delta nor a completion.");
  }

  /** Keeps and hands on what still has room, and holds back half a surrogate pair until its other half comes. */
  private emit(delta: string, isLast: boolean): void {
    let text = isLast ? delta : this.held + delta;
    this.held = isLast ? "" : (/[\uD800-\uDBFF]$/.exec(text)?.[0] ?? "");
    if (this.held !== "") text = text.slice(0, -1);
    if (text === "") return;
    text = wellFormed(text);
    this.totalLength += text.length;
    if (this.totalLength > toolLimits.deltaTextMax) throw this.flood(`${toolLimits.deltaTextMax} characters`);
    const room = headOf(text, this.outputMax - this.keptLength);
    if (room === "") return;
    this.pieces.push(room);
    // Once something was cut nothing later may slip in behind it.
    this.keptLength = room.length < text.length ? this.outputMax : this.keptLength + room.length;
    if (!this.isAbandoned) this.options.onDelta?.(room);
  }

  private result(): CallResult {
    const { completion } = this;
    if (!completion || (completion.output === undefined && this.totalLength > 0))
      return { outcome: "ok", output: this.partial(), ...this.extras() };
    const { parts, flaw } = normaliseOutput(completion.output, this.outputMax);
    if (parts) return { outcome: "ok", output: parts, ...this.extras() };
    const message = `The tool \`${this.options.name}\` ran, but its output is not JSON: it holds ${flaw}.`;
    const error = new AgentError("TOOL_FAILED", { message, fix: "Let it return text, JSON or parts." });
    return toolFailure(error, this.options, this.totalLength === 0 ? [] : this.partial());
  }

  private partial(): CallResult["output"] {
    return cutStream(this.pieces.join(""), this.totalLength);
  }

  private extras(): Pick<CallResult, "details" | "summary"> {
    const { details, summary } = this.completion ?? {};
    const kept: { details?: NonNullable<CallResult["details"]>; summary?: string } = {};
    if (typeof summary === "string" && summary !== "") kept.summary = headOf(wellFormed(summary), this.outputMax);
    if (details === undefined || details === null) return kept;
    const json = toJson(details);
    if (json.flaw !== undefined) this.warn(`its details were dropped: they hold ${json.flaw}`);
    else if (JSON.stringify(json.value).length > toolLimits.detailsTextMax) this.warn("its details were dropped: too large");
    else if (json.value !== null) kept.details = json.value;
    return kept;
  }

  /** Lets a generator run its `finally`, without waiting for it. */
  private close(): void {
    const { iterator } = this;
    this.iterator = undefined;
    if (!iterator?.return) return;
    try {
      Promise.resolve(iterator.return(undefined)).catch(() => {});
    } catch {
      // A result exists already; how the tool cleans up cannot change it.
    }
  }

  private flood(what: string): AgentError {
    return new AgentError("TOOL_FAILED", {
      message: `The tool \`${this.options.name}\` was stopped: it yielded more than ${what}.`,
      fix: "Let it yield less.",
    });
  }

  private warn(message: string): void {
    this.options.onWarning?.(`Tool \`${this.options.name}\`: ${message}.`);
  }
}

function iteratorOf(value: unknown): AnyIterator | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Symbol.asyncIterator in value) return (value as AsyncIterable<unknown, unknown>)[Symbol.asyncIterator]();
  // A plain generator; lists and other iterables are values.
  if (Symbol.iterator in value && "next" in value) return (value as Iterable<unknown, unknown>)[Symbol.iterator]();
  return undefined;
}

function deltaOf(event: unknown): string | undefined {
  if (typeof event === "string") return event;
  if (typeof event !== "object" || event === null || !("type" in event) || event.type !== "delta") return undefined;
  return "delta" in event && typeof event.delta === "string" ? event.delta : undefined;
}

function completionOf(value: unknown): Completion {
  return isCompletion(value) ? value : { output: value };
}

const completionKeys: ReadonlySet<string> = new Set(["type", "output", "details", "summary"]);

/** By its `type` and by having no key of another meaning: data of a tool may well have a field `type`. */
function isCompletion(value: unknown): value is Completion {
  if (typeof value !== "object" || value === null || !("type" in value) || value.type !== "complete") return false;
  return Object.keys(value).every((key) => completionKeys.has(key));
}
