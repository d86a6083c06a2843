/*
 * Owns: the agent of a replay: its prompt, hooks and limits are its own, the answers of its models and tools are those of the log.
 * Does not own: when an answer is given (RecordedCourse).
 */
import { type Agent, AgentError, createAgent, type Fact, type FactOf, type Failure, type Tool, type ToolContext } from "@loopwright/core";
import type { ModelProvider } from "@loopwright/core/ports";
import { chunksOfContent, endOfMessage } from "./chunks-of-message.ts";
import { pacedApproval, pacedHooks } from "./paced-hooks.ts";
import type { RecordedCourse } from "./recorded-course.ts";
import { replayedContext } from "./replayed-context.ts";

type ModelEnd = FactOf<"model.finished"> | FactOf<"model.failed">;

/** The agent with the models and tools of the log. They answer in the order of the log, once each process is where the recorded one was. */
export function replayedAgent(agent: Agent, course: RecordedCourse): Agent {
  const providers = new Map<ModelProvider, ModelProvider>();
  const replayed = (provider: ModelProvider): ModelProvider => {
    const known = providers.get(provider) ?? replayedProvider(provider, course);
    providers.set(provider, known);
    return known;
  };
  const [first, ...others] = agent.chain.map((link) => ({ ...link, provider: replayed(link.provider) }));
  return createAgent({
    ...agent,
    provider: first?.provider ?? replayed(agent.provider),
    ...(first ? { chain: [first, ...others] } : {}),
    tools: agent.tools.map((tool) => replayedTool(tool, course)),
    hooks: agent.hooks.map((hooks) => pacedHooks(hooks, course)),
    ...(agent.context ? { context: replayedContext(agent.context, course) } : {}),
  });
}

function replayedProvider(provider: ModelProvider, course: RecordedCourse): ModelProvider {
  return {
    name: provider.name,
    defaultModel: provider.defaultModel,
    capabilities: (model) => provider.capabilities(model),
    async *stream(_, { signal }) {
      course.activity += 1;
      signal.throwIfAborted();
      const started = course.facts[course.position - 1] && lastStarted(course);
      const isEnd = (fact: Fact): fact is ModelEnd =>
        (fact.type === "model.finished" || fact.type === "model.failed") &&
        fact.runId === started?.runId &&
        fact.turn === started.turn &&
        fact.attempt === started.attempt;
      const end = course.ahead(isEnd);
      if (!end) return yield* never(signal);
      if (end.type === "model.failed" && end.failure.code === "HANDED_OVER") {
        if (end.usage) yield [{ type: "usage", usage: end.usage }];
        return yield* never(signal);
      }
      if (end.type === "model.failed") {
        await unlessAborted(course.mayEnd(end), signal);
        if (end.usage) yield [{ type: "usage", usage: end.usage }];
        throw errorOf(end.failure);
      }
      const { message, failure, usage } = end;
      if (message.stopReason === "aborted") {
        // The text was there before the abort.
        const written = chunksOfContent(message.content);
        if (written.length > 0) yield written;
        if (usage) yield [{ type: "usage", usage }];
        return yield* never(signal);
      }
      await unlessAborted(course.mayEnd(end), signal);
      const isCut = message.stopReason === "error" && failure && failure.code !== "MODEL_REFUSED";
      yield chunksOfContent(message.content);
      if (isCut) {
        if (usage) yield [{ type: "usage", usage }];
        throw errorOf(failure);
      }
      yield endOfMessage(message, usage);
    },
  };
}

/** The intent of the attempt that begins now. */
function lastStarted({ facts, position }: RecordedCourse): FactOf<"model.started"> | undefined {
  for (let at = position - 1; at >= 0; at--) {
    const fact = facts[at];
    if (fact?.type === "model.started") return fact;
  }
  return undefined;
}

function replayedTool(tool: Tool, course: RecordedCourse): Tool {
  if (!tool.execute) return tool;
  const endOf = (callKey: string): FactOf<"tool.finished"> | undefined =>
    course.ahead((fact): fact is FactOf<"tool.finished"> => fact.type === "tool.finished" && fact.callKey === callKey);
  return {
    ...tool,
    ...pacedApproval(tool, course),
    // The output was cut when it was recorded.
    outputMax: Number.MAX_SAFE_INTEGER,
    // A result is given when the log has it, and a limit is reached when the log has that.
    async execute(_: unknown, context: ToolContext) {
      course.activity += 1;
      const end = endOf(context.callKey);
      if (!end) return new Promise<never>(() => {});
      await course.mayEnd(end);
      giveWhatItReported(end, context);
      if (end.outcome !== "ok") throw errorOf(end.failure ?? missing(end), fixOf(end));
      const { output, details, summary } = end;
      return {
        type: "complete",
        output,
        ...(details === undefined ? {} : { details }),
        ...(summary === undefined ? {} : { summary }),
      };
    },
    ...(tool.lookup
      ? {
          async lookup(callKey: string) {
            course.activity += 1;
            const end = endOf(callKey);
            if (!end) return new Promise<never>(() => {});
            await course.reached(end.seq);
            return end.outcome === "ok" ? end.output : undefined;
          },
        }
      : {}),
  };
}

function giveWhatItReported({ progress = [], usage, cost, expenses = [] }: FactOf<"tool.finished">, context: ToolContext): void {
  for (const { title, icon, state } of progress) {
    const step = context.progress(title, icon === undefined ? {} : { icon });
    if (state !== "open") step.end(state);
  }
  if (usage) {
    const { tools: _, ...own } = usage;
    context.addUsage({ ...own, ...(cost ? { cost } : {}) });
  }
  for (const { usage: used, ...more } of expenses) context.addUsage({ ...used, ...more });
}

const missing = ({ outcome }: FactOf<"tool.finished">): Failure => ({
  code: "TOOL_FAILED",
  message: `The log has the outcome \`${outcome}\` without a failure.`,
  retryable: false,
});

function errorOf({ code, message, retryable, retryAfterMs }: Failure, fix?: string): AgentError {
  return new AgentError(code, { message, retryable, retryAfterMs, fix });
}

/** The model read `CODE: message fix`. */
function fixOf({ failure, output }: FactOf<"tool.finished">): string {
  const text = output.at(-1);
  const head = `${failure?.code}: ${failure?.message} `;
  return text?.type === "text" && text.text.startsWith(head) ? text.text.slice(head.length) : "";
}

async function* never(signal: AbortSignal): AsyncGenerator<never> {
  await unlessAborted(new Promise<never>(() => {}), signal);
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
