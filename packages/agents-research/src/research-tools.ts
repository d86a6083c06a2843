import { type Agent, defineTool, type Tool } from "@loopwright/core";
import { z } from "zod";
import { envelope, snippet } from "./envelope.ts";
import type { SearchHistory } from "./search-history.ts";

/** Names of the tools of a research. */
export const researchToolNames = {
  researcher: "researcher_agent_tool",
  feedback: "feedback_questions_tool",
  report: "report_generation_tool",
  history: "get_search_history_tool",
} as const;

/** A report as the supervisor writes it. */
export interface Report {
  readonly title: string;
  readonly sections: readonly { readonly heading: string; readonly text: string }[];
  readonly sources: readonly { readonly title: string; readonly url: string }[];
}

const reportSchema: z.ZodType<Report> = z.object({
  title: z.string().min(1),
  sections: z.array(z.object({ heading: z.string(), text: z.string().min(1) })).min(1),
  sources: z.array(z.object({ title: z.string(), url: z.string() })),
});

/** The report as Markdown, its sources numbered from 1. */
export function reportText({ title, sections, sources }: Report): string {
  const parts = sections.map(({ heading, text }) => `## ${heading}\n\n${text}`);
  const list = sources.map((source, index) => `${index + 1}. [${source.title}](${source.url})`);
  return [`# ${title}`, ...parts, ...(list.length > 0 ? [`## Sources\n\n${list.join("\n")}`] : [])].join("\n\n");
}

/** Writes the report. The user sees all of it; later runs of the session read its first 100 words. */
export const reportTool: Tool<Report> = defineTool({
  name: researchToolNames.report,
  description: "Writes the report that answers the user, with its sources. Call it once, when the research is complete.",
  parameters: reportSchema,
  replay: "pure",
  counts: false,
  async *execute(report, { progress }) {
    const step = progress("Writing the report", { icon: "WAND" });
    const text = reportText(report);
    step.end();
    yield { type: "complete", output: envelope(text), details: report, summary: envelope(snippet(text)) };
  },
});

/** Asks the user; the run rests until they answer. `timeoutMs`: after that the research continues without an answer; 0: never. */
export const feedbackTool = (timeoutMs: number): Tool<{ readonly questions: readonly string[] }> =>
  defineTool({
    name: researchToolNames.feedback,
    description: "Asks the user up to five questions that decide what is to be researched. Call it at most once, before any research.",
    parameters: z.object({ questions: z.array(z.string().min(1)).min(1).max(5) }),
    counts: false,
    timeoutMs,
  });

/** The searches that were already made in this research. */
export const historyTool = (history: SearchHistory, research: string): Tool =>
  defineTool({
    name: researchToolNames.history,
    description: "Lists the searches already made in this research. Do not repeat them.",
    parameters: z.object({}),
    replay: "pure",
    counts: false,
    onBadArguments: "defaults",
    execute: async () => ({ searches: await history.list(research) }),
  }) as Tool;

/** Has a researcher answer one question, in a session of its own. `make` gives the agent for a research, which is named by its session. */
export const researcherTool = (make: (research: string) => Agent): Tool<{ readonly question: string }> =>
  defineTool({
    name: researchToolNames.researcher,
    description: "Has a researcher answer one question with searches of its own. Several calls in one turn run beside one another.",
    parameters: z.object({ question: z.string().min(1) }),
    replay: "idempotent",
    timeoutMs: 0,
    async execute({ question }, { child, session }) {
      const found = await child("researcher", make(session.id), question);
      if (found.status !== "completed") throw found.error;
      return found.text;
    },
  });
