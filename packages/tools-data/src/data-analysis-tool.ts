import {
  type Agent,
  AgentError,
  type AgentModel,
  createAgent,
  defineTool,
  type Tool,
  type ToolContext,
  type ToolEvent,
  type UserMessage,
} from "@loopwright/core";
import type { SessionStore } from "@loopwright/core/ports";
import { z } from "zod";
import { attachedTables, tablesOf } from "./attached-tables.ts";
import type { DataLimits } from "./data-limits.ts";
import { dataTools } from "./data-tools.ts";
import { snippetTool } from "./snippet/snippet-tool.ts";

export type DataAnalysisOptions = AgentModel & {
  /** Of the sessions: it holds the attached files. */
  readonly store: Pick<SessionStore, "blobs">;
  readonly limits?: Partial<DataLimits>;
};

/** Bytes of a table that the analyst is shown beside its description: the tools have all of it. */
const shownBytes = 1_000;

const prompt = `You answer questions about the tables that are attached to the message.
Describe the tables first, then compute with SQL or JavaScript; never compute in your head, and never guess a figure.
Answer briefly: the figures, and the query or the code that gave them. If the tables cannot answer the question, state what is missing.`;

/** An agent that answers with figures of the tables that are attached to its session, and with the queries that gave them. */
export function dataAnalyst({ store, limits = {}, ...model }: DataAnalysisOptions): Agent {
  const tables = attachedTables(store, limits.tablesMax);
  const tools = [...dataTools({ tables, limits }), snippetTool({ tables, dataLimits: limits }) as Tool];
  return createAgent({ ...model, name: "data-analyst", prompt, tools, limits: { turnsMax: 20 } });
}

interface Question {
  readonly question: string;
}

const parameters: z.ZodType<Question> = z.object({
  question: z.string().trim().min(1).max(4_000).describe("A question about the attached tables."),
});

/**
 * The tool `data_analysis_tool` of an orchestrator, in its mode DATA_ANALYSIS: gives a question and the tables of the conversation to a `dataAnalyst`, as a child
 * whose session has the files, and returns its answer.
 */
export function dataAnalysisTool(options: DataAnalysisOptions): Tool<Question> {
  const analyst = dataAnalyst(options);
  return defineTool({
    name: "data_analysis_tool",
    label: "Data analysis",
    description: "Answers a question about the tables that the user has attached, with figures and the query used.",
    parameters,
    // The same call finds the same child.
    replay: "idempotent",
    timeoutMs: 0,
    agents: [analyst],
    async execute({ question }, context): Promise<Extract<ToolEvent, { type: "complete" }>> {
      const end = await context.child("analysis", analyst, inputOf(question, context), { suspends: true });
      if (end.error) throw end.error;
      return { type: "complete", output: end.text, details: { session: end.session, toolCallCount: end.toolCallCount } };
    },
  });
}

/** @throws AgentError TOOL_FAILED where nothing is attached */
function inputOf(question: string, { session }: ToolContext): UserMessage {
  const files = tablesOf(session.messages());
  if (files.length === 0)
    throw new AgentError("TOOL_FAILED", { message: "The conversation has no tables.", fix: "Ask the user to attach a table as CSV." });
  const shown = files.map((file) => ({ ...file, source: { ...file.source, shownBytes } }));
  return { role: "user", content: [{ type: "text", text: question }, ...shown] };
}
