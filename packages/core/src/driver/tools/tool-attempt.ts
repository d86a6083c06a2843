/*
 * Owns: one attempt of a tool, from `execute` to its one result, with its time limit and its abort.
 * Does not own: whether the tool may run (the loop, the gate), facts (the caller makes them).
 */

import { AgentError, isAgentError } from "../../errors.ts";
import type { Access, CallResult, Expense, Labels } from "../../loop/fact.ts";
import type { ToolCallPart } from "../../message/content.ts";
import type { Message, ProgressStep } from "../../message/message.ts";
import type { Cost, Usage } from "../../message/usage.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { PriceTable } from "../../ports/price-table.ts";
import { collectOutput, filteredFailure, type ToolListeners } from "../../tools/collect-tool-output.ts";
import type { FilesRoot, ToolContext } from "../../tools/tool.ts";
import type { AnyTool } from "../../tools/tool-registry.ts";
import { toolFilterOf, type UserFilter } from "../effects/filter-hook.ts";
import type { SyncOrAsync } from "../effects/sync-or-async.ts";
import { SpentAccount } from "../effects/usage-reported-by-user-code.ts";
import type { Lane } from "../live/event-hub.ts";
import { type Reports, reportThrown } from "../setup/user-code-errors.ts";
import { createToolProgress } from "./tool-progress.ts";

export interface ToolCallEnd {
  readonly result: CallResult;
  readonly progress: readonly ProgressStep[];
  /** The usage that the tool reported without a model. */
  readonly usage?: Usage;
  readonly cost?: Cost;
  /** The other usage, by model. */
  readonly expenses?: readonly Expense[];
  readonly durationMs: number;
}

export interface ToolCall {
  readonly end: Promise<ToolCallEnd>;
  /** Signals the tool and waits `graceMs` for it to end by itself. */
  abort(graceMs: number): void;
  /** Output so far, for snapshots; at most the last 64 KiB of characters. */
  partial(): string;
  /** The steps that the tool has reported, in their current state. */
  steps(): readonly ProgressStep[];
}

export interface ToolCallOptions {
  readonly tool: AnyTool;
  readonly part: ToolCallPart;
  /** The validated arguments. */
  readonly args: unknown;
  readonly attempt: number;
  /** 0: no limit. */
  readonly timeoutMs: number;
  /** The time that is left to the run, and its time limit. Absent: the run has no time limit. */
  readonly runTime?: { readonly leftMs: number; readonly limitMs: number } | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observation?: Reports["observation"];
  readonly access: Access;
  readonly labels: Labels;
  readonly session: { readonly id: string; messages(): readonly Message[] };
  readonly files: FilesRoot | undefined;
  readonly resources: unknown;
  readonly prices: PriceTable | undefined;
  /** What the tool may do to its session. */
  readonly acts: Pick<ToolContext, "record" | "child" | "spawn">;
  readonly filter: UserFilter | undefined;
  readonly lane: () => Lane | undefined;
}

const partialMax = 64 * 1024;

export function startToolCall(options: ToolCallOptions): ToolCall {
  const { tool, part, clock, filter } = options;
  const signal = new AbortController();
  const abandon = new AbortController();
  const startedAt = clock.monotonic();
  const publishStep = (step: ProgressStep): void => options.lane()?.emit([{ type: "progress", callKey: part.callKey, ...step }]);
  const progress = createToolProgress(clock, publishStep, filter && titlesThrough(filter, (error) => stop(error, 0)));
  const spent = new SpentAccount();
  let partial = "";

  const stop = (reason: AgentError, graceMs: number): void => {
    if (signal.signal.aborted) return;
    signal.abort(reason);
    if (graceMs <= 0) abandon.abort(reason);
    else cancels.push(clock.after(graceMs, () => abandon.abort(reason)));
  };
  const cancels: (() => void)[] = [];
  for (const { ms, error } of timeLimitsOf(options)) cancels.push(clock.after(ms, () => stop(error(), 0)));

  const context: ToolContext = {
    callId: part.id,
    callKey: part.callKey,
    idempotencyKey: part.callKey,
    attempt: options.attempt,
    signal: signal.signal,
    deadline: deadlineOf(options),
    access: options.access,
    labels: options.labels,
    progress: progress.open,
    addUsage: (more) => {
      if (!spent.add(more)) onWarning(`Tool \`${tool.name}\`: its usage was ignored, because it has no count of tokens.`);
    },
    logger: options.logger,
    ...options.acts,
    files: options.files,
    session: options.session,
    resources: options.resources,
  };
  const onDelta = (delta: string): void => {
    partial += delta;
    if (partial.length > 2 * partialMax) partial = partial.slice(-partialMax);
    options.lane()?.emit([{ type: "tool_execution_delta", toolCallId: part.id, callKey: part.callKey, delta }]);
  };
  const onWarning = (message: string): void => options.logger.log("warn", message, { callKey: part.callKey });

  const reports = { logger: options.logger, sessionId: options.session.id, observation: options.observation };
  const onThrown = (error: unknown): void => reportThrown(reports, `The tool \`${tool.name}\` threw an error.`, error);

  const run = async (): Promise<ToolCallEnd> => {
    const result = await callTool(options, { context, onDelta, onWarning, onThrown, abandon: abandon.signal });
    for (const cancel of cancels) cancel();
    await progress.titled();
    const wasAborted = isAgentError(signal.signal.reason, "RUN_ABORTED") && result.outcome !== "ok";
    const steps = progress.close(result.outcome === "ok");
    const durationMs = Math.round(clock.monotonic() - startedAt);
    const account = await spent.expenses({ ...reports, prices: options.prices }, clock.now());
    const own = account.find(({ model }) => model === undefined);
    const expenses = account.filter((one) => one !== own);
    return {
      result: wasAborted ? { ...result, outcome: "aborted" } : result,
      progress: steps,
      durationMs,
      // The tokens of a failed tool count, but are not listed under its name.
      ...(own ? { usage: { ...own.usage, ...(result.outcome === "ok" ? { tools: [tool.name] } : {}) } } : {}),
      ...(own?.cost ? { cost: own.cost } : {}),
      ...(expenses.length > 0 ? { expenses } : {}),
    };
  };
  return {
    end: run(),
    abort: (graceMs) => stop(new AgentError("RUN_ABORTED", { message: "The run was stopped." }), graceMs),
    partial: () => partial,
    steps: progress.steps,
  };
}

/** A failing filter ends the call and throws nothing into the tool's code, because a tool may report a step from anywhere. */
function titlesThrough(filter: UserFilter, end: (error: AgentError) => void): (title: string) => SyncOrAsync<string> {
  const failed = (error: unknown): string => {
    end(error as AgentError);
    return "";
  };
  return (title) => {
    try {
      const shown = filter.apply(title, "progress");
      return shown instanceof Promise ? shown.catch(failed) : shown;
    } catch (error) {
      return failed(error);
    }
  };
}

async function callTool(
  { tool, args, ...options }: ToolCallOptions,
  { context, ...io }: { readonly context: ToolContext; readonly abandon: AbortSignal } & Required<ToolListeners>,
): Promise<CallResult> {
  const filter = toolFilterOf(options.filter);
  try {
    const returned = tool.execute?.(args, context);
    return await collectOutput(returned, { name: tool.name, ...io, filter, outputMax: tool.outputMax });
  } catch (error) {
    if (!isAgentError(error)) io.onThrown?.(error);
    return await filteredFailure(error, { name: tool.name, filter });
  }
}

interface TimeLimit {
  readonly ms: number;
  readonly error: () => AgentError;
}

/** The time limit of the tool, and the time that is left to its run. */
function timeLimitsOf({ tool: { name }, timeoutMs, runTime }: ToolCallOptions): readonly TimeLimit[] {
  return [
    ...(timeoutMs > 0 ? [{ ms: timeoutMs, error: () => timedOut(name, timeoutMs) }] : []),
    ...(runTime ? [{ ms: runTime.leftMs, error: () => runTimeOver(name, runTime.limitMs) }] : []),
  ];
}

function deadlineOf(options: ToolCallOptions): number | undefined {
  const limits = timeLimitsOf(options).map(({ ms }) => ms);
  return limits.length > 0 ? options.clock.now() + Math.min(...limits) : undefined;
}

const timedOut = (name: string, timeoutMs: number): AgentError =>
  new AgentError("TOOL_TIMEOUT", {
    message: `The tool \`${name}\` did not end within ${timeoutMs} ms.`,
    details: { tool: name, timeoutMs },
  });

const runTimeOver = (name: string, limitMs: number): AgentError =>
  new AgentError("TOOL_LIMIT", {
    message: `The tool \`${name}\` was stopped: the time of this request, ${limitMs} ms, is used up.`,
    fix: "Answer with what there is.",
    details: { tool: name, durationMs: limitMs },
  });
