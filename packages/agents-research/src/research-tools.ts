import { type Agent, defineTool, type Tool } from "@loopwright/core";
import { z } from "zod";
import { pagesListed, withoutQuotes } from "./read-pages.ts";
import type { SearchHistory } from "./search-history.ts";

/** Names of the tools of a research. */
export const researchToolNames = {
  researcher: "researcher_agent_tool",
  feedback: "feedback_questions_tool",
  report: "report_generation_tool",
  history: "get_search_history_tool",
} as const;

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
    execute: async (_, { access, session }) => ({
      searches: await history.list(research, { scope: access.scope, session: session.id }),
    }),
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
      const details = { session: found.session, pages: pagesListed(found) };
      return { type: "complete", output: withoutQuotes(found), details };
    },
  });
