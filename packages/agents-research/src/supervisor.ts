/*
 * Owns: the course of a research: questions, researchers, retries, and one report, forced where it does not come by itself.
 * Does not own: the tools (research-tools), the counting of calls (plan-hooks).
 */
import {
  type Agent,
  type AgentModel,
  type AgentOptions,
  createAgent,
  type DecideContext,
  type DecideVerdict,
  type Hooks,
  type Message,
  type PrepareVerdict,
  type Tool,
} from "@loopwright/core";
import { opened } from "@loopwright/tools-registry";
import type { Report } from "./citations.ts";
import type { AgentKindOptions } from "./main-thread.ts";
import { type AtLimit, planHooksWith } from "./plan-hooks.ts";
import { planWindows } from "./plan-windows.ts";
import { promptHooks } from "./prompt-hooks.ts";
import { repairArguments } from "./repair-arguments.ts";
import { refusedMax, refusedReports, reportTool } from "./report.ts";
import { feedbackTool, researcherTool, researchToolNames } from "./research-tools.ts";
import { type ResearcherOptions, researcherAgent } from "./researcher.ts";
import { memorySearchHistory, type SearchHistory } from "./search-history.ts";

export type SupervisorOptions = AgentKindOptions &
  AgentModel & {
    /** The researchers; each works in a session of its own. */
    readonly researcher: Omit<ResearcherOptions, "history" | "research"> & AgentModel;
    /** The searches that researchers have made. Default: of this process. */
    readonly history?: SearchHistory;
    /** How often a model that answers without a call is asked again. Default 2. */
    readonly retriesMax?: number;
    /** The model after the second retry. Default: the same. */
    readonly cheaperModel?: string;
    /** Whether a research that ends without a report is made to write one. Default true. */
    readonly forcesReport?: boolean;
    /** Whether each claim of the report has to cite a page that a researcher has fetched. Default true. */
    readonly checksCitations?: boolean;
    /** How long questions to the user wait for an answer, in milliseconds. Default 0: until they are answered. */
    readonly feedbackTimeoutMs?: number;
  };

const prompt = `You lead a research. Ask the user with ${researchToolNames.feedback} if the question leaves open what matters.
Part the question into independent ones, and give each to a researcher with ${researchToolNames.researcher}, all in one turn.
When they have answered, write the report with ${researchToolNames.report}. Every claim names pages that the researchers have read.`;

const retryNotice = `You have called no tool. Continue the research with ${researchToolNames.researcher}, or write the report with ${researchToolNames.report}.`;
const forceNotice = `Write the report now with ${researchToolNames.report}, with what has been found.`;
const closingNotice = "The user has seen the report. Close with one word.";

const ownTools = Object.values(researchToolNames).filter((name) => name !== researchToolNames.history);

/** An agent that has researchers answer the parts of a question and writes one report. The report is the answer of the run. */
export function deepResearchSupervisor(options: SupervisorOptions): Agent {
  const { researcher, history = memorySearchHistory(), feedbackTimeoutMs = 0, hooks = [], limits, name = "deep-research" } = options;
  const {
    retriesMax,
    cheaperModel,
    forcesReport,
    checksCitations = true,
    settings,
    plans,
    toolCallsLimit,
    uncounted = [],
    parallelModels,
    fewShot,
    ...rest
  } = options;
  const { researcher: _, history: __, feedbackTimeoutMs: ___, ...agent } = rest;
  const make = (research: string): Agent => researcherAgent({ ...researcher, history, research } as ResearcherOptions);
  make("check"); // What is wrong with the researcher is refused here, not in the middle of a run.
  const own: readonly string[] = [researchToolNames.report, researchToolNames.feedback, ...uncounted];
  const report = reportTool({ name: researchToolNames.report, researcher: researchToolNames.researcher, checksCitations });
  const { windows, context } = planWindows(options.context);
  const created = createAgent({
    ...agent,
    ...(context ? { context } : {}),
    name,
    prompt: options.prompt ?? prompt,
    tools: [researcherTool(make), feedbackTool(feedbackTimeoutMs), report],
    // A call of a tool that it does not have is an error for the model, and no part of what is kept.
    data: options.data ?? { calls: { only: ownTools }, results: { only: ownTools } },
    limits: { turnsMax: 50, ...limits },
  });
  return createAgent({
    ...created,
    hooks: [
      ...hooks,
      courseHooks(options, onlyTool(report)),
      planHooksWith(
        { settings, plans, toolCallsLimit, uncounted: own, parallelModels },
        { ...(forcesReport === false ? {} : { atLimit: reportAtLimit(onlyTool(report)) }), ...(windows ? { windows } : {}) },
      ),
      promptHooks({ settings, fewShot }),
      repairArguments({ tools: [researchToolNames.report], provider: created.provider, model: cheaperModel ?? created.model }),
    ],
  } satisfies AgentOptions);
}

/** What a model call gets that may do nothing but write the report. */
type OnlyReport = Pick<PrepareVerdict, "tools" | "toolChoice">;

const onlyTool = (report: Tool<Report>): OnlyReport => ({ tools: [report as Tool], toolChoice: { tool: report.name } });

/** The report alone; nothing once it is written. */
const reportAtLimit = (onlyReport: OnlyReport): AtLimit => ({
  verdict: ({ tools }): PrepareVerdict => (tools.length === 0 ? {} : onlyReport),
  notice: (limit) => `You have used the ${limit} researchers of this request. ${forceNotice}`,
  allowed: [researchToolNames.report],
});

/** Reports that may fail before the research ends without one. */
const failedMax = refusedMax + 2;

function courseHooks(
  { retriesMax = 2, cheaperModel, forcesReport = true }: Pick<SupervisorOptions, "retriesMax" | "cheaperModel" | "forcesReport">,
  onlyReport: OnlyReport,
): Hooks {
  /** Runs of this process whose report is written: the report takes the place of what the model closes with, so that is not shown. */
  const closing = new Set<string>();
  return {
    name: "deep-research",
    run: { end: ({ runId }) => void closing.delete(runId) },
    filter: { apply: (text, { kind, runId }) => (kind === "text" && closing.has(runId) ? "" : text) },
    prepare({ state, runId }) {
      if (state["reported"] === true) {
        closing.add(runId);
        return { tools: [], maxTokens: 64, notices: [closingNotice] };
      }
      const model = cheaperModel !== undefined && Number(state["retries"] ?? 0) > 1 ? { model: cheaperModel } : {};
      return state["forced"] === true ? { ...model, ...onlyReport } : model;
    },
    decide(context) {
      const { state, calls, messages } = context;
      if (state["reported"] === true) return { answer: reportIn(messages), action: "finish", reason: "report" };
      if (calls.length === 0) return withoutCalls(context, { retriesMax, forcesReport });
      const isReport = calls.some(({ name }) => name === researchToolNames.report);
      const isHopeless = isReport ? refusedReports(messages, researchToolNames.report) >= failedMax : state["forced"] === true;
      return isHopeless ? { action: "stop", reason: "no_report" } : undefined;
    },
    review: ({ call, outcome }) => (call.name === researchToolNames.report && outcome === "ok" ? { state: { reported: true } } : undefined),
  };
}

function withoutCalls(
  { state }: DecideContext,
  { retriesMax, forcesReport }: { readonly retriesMax: number; readonly forcesReport: boolean },
): DecideVerdict {
  const retries = Number(state["retries"] ?? 0);
  if (state["forced"] === true) return { action: "finish", reason: "no_report" };
  if (retries < retriesMax) return { action: "nudge", notice: retryNotice, state: { retries: retries + 1 } };
  return forcesReport
    ? { action: "force", tool: researchToolNames.report, state: { forced: true } }
    : { action: "finish", reason: "no_report" };
}

/** The text of the last report in the conversation. */
function reportIn(messages: readonly Message[]): string {
  const message = messages.findLast(
    (one) => one.role === "tool_result" && one.toolName === researchToolNames.report && one.outcome === "ok",
  );
  if (message?.role !== "tool_result") return "";
  const { content } = message;
  return opened(typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : "")).join(""));
}
