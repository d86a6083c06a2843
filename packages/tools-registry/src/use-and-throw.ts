/*
 * Owns: what later runs read of a tool's results. Does not own: where the results are kept (core: people see all of them).
 */
import { AgentError, type NeedsResources, type Tool, type ToolContext } from "@loopwright/core";
import { envelope, snippet } from "./shown-text.ts";

export interface UseAndThrowOptions<Args = unknown> {
  /** Words of a result that later runs read. A summary that the tool gives by itself goes before it. Default 100. */
  readonly words?: number;
  /** The user sees the result as it is made: the model reads it in an envelope, and is not to repeat it. Default false. */
  readonly isShown?: boolean;
  /** True: later runs read the whole result of this call. Default: none. */
  readonly keepsWhole?: (args: Args) => boolean;
}

interface Completion {
  readonly type: "complete";
  readonly output: unknown;
  readonly details?: unknown;
  readonly summary?: string;
}

/**
 * The tool, whose results are read whole by the run that asked for them, and as their first words by later runs.
 * @throws AgentError CONFIG_INVALID for a tool that the client runs, or for less than one word
 */
export function useAndThrow<Args, Resources>(
  tool: Tool<Args, Resources> & NeedsResources<Resources>,
  options: UseAndThrowOptions<Args> = {},
): Tool<Args, Resources> & NeedsResources<Resources> {
  const { words = 100, isShown = false, keepsWhole = () => false } = options;
  if (!tool.execute) throw invalid(tool.name, "the client runs it, so its results are the client's", "Pass a tool with `execute`.");
  if (!(words >= 1)) throw invalid(tool.name, `\`words\` is ${words}`, "Pass at least 1.");
  const mended = (completion: Completion, args: Args): Completion => {
    const text = textOf(completion.output);
    const whole = isShown ? { ...completion, output: envelope(text) } : completion;
    if (keepsWhole(args)) return whole;
    const later = completion.summary ?? snippet(text, words);
    return { ...whole, summary: isShown ? envelope(later) : later };
  };
  return {
    ...tool,
    async execute(args: Args, context: ToolContext<Resources>) {
      const value: unknown = await tool.execute?.(args, context);
      const stream = streamOf(value);
      return stream ? mendedStream(stream, (completion) => mended(completion, args)) : mended(completionOf(value), args);
    },
  };
}

/** Deltas pass as they are; the completion is mended, or made of the returned value or of the deltas. */
async function* mendedStream(stream: AnyIterator, mend: (completion: Completion) => Completion): AsyncGenerator<unknown> {
  const pieces: string[] = [];
  let isComplete = false;
  try {
    for (;;) {
      const step = await stream.next();
      if (step.done) {
        if (!isComplete) yield mend(completionOf(step.value === undefined ? pieces.join("") : step.value));
        return;
      }
      const event = step.value;
      if (isCompletion(event)) {
        isComplete = true;
        yield mend(event);
      } else {
        pieces.push(deltaOf(event));
        yield event;
      }
    }
  } finally {
    await stream.return?.(undefined);
  }
}

type AnyIterator = AsyncIterator<unknown, unknown> | Iterator<unknown, unknown>;

function streamOf(value: unknown): AnyIterator | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Symbol.asyncIterator in value) return (value as AsyncIterable<unknown, unknown>)[Symbol.asyncIterator]();
  return Symbol.iterator in value && "next" in value ? (value as Iterable<unknown, unknown>)[Symbol.iterator]() : undefined;
}

const completionOf = (value: unknown): Completion => (isCompletion(value) ? value : { type: "complete", output: value });

const isCompletion = (value: unknown): value is Completion =>
  typeof value === "object" && value !== null && "output" in value && (value as Partial<Completion>).type === "complete";

function deltaOf(event: unknown): string {
  if (typeof event === "string") return event;
  const { delta, stream } = (event ?? {}) as { readonly delta?: unknown; readonly stream?: unknown };
  return typeof delta === "string" ? delta : typeof stream === "string" ? stream : "";
}

/** Parts as their texts; any other value as JSON. */
function textOf(output: unknown): string {
  if (typeof output === "string") return output;
  if (Array.isArray(output) && output.every((part) => typeof part === "object" && part !== null && "type" in part))
    return output.map((part: { type: string; text?: string }) => part.text ?? `[${part.type}]`).join("\n");
  return JSON.stringify(output) ?? "";
}

const invalid = (tool: string, what: string, fix: string): AgentError =>
  new AgentError("CONFIG_INVALID", { message: `Tool \`${tool}\` cannot be use-and-throw: ${what}.`, fix, details: { tool } });
