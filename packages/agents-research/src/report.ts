import { AgentError, defineTool, type Message, type Tool } from "@loopwright/core";
import { envelope, snippet } from "@loopwright/tools-registry";
import { z } from "zod";
import { type Claim, type Report, uncitedClaims, uncitedText, withCitations, withoutClaims } from "./citations.ts";
import { pagesOfResearch, type ReadPage } from "./read-pages.ts";

const reportSchema: z.ZodType<Report> = z
  .object({
    title: z.string().min(1),
    sections: z.array(
      z.object({
        heading: z.string(),
        claims: z
          .array(z.object({ text: z.string().min(1), sources: z.array(z.string()).describe("Addresses of fetched pages that state it.") }))
          .min(1),
      }),
    ),
    open: z.array(z.string().min(1)).optional().describe("What the research has not found out."),
  })
  .refine(({ sections, open = [] }) => sections.length + open.length > 0, "A report has a section, or names what is open.");

/** The report as Markdown: its sources are numbered from 1, and each claim carries their numbers. */
export function reportText({ title, sections, open = [] }: Report, pages: readonly ReadPage[] = []): string {
  const numbers = new Map<string, number>();
  const numberOf = (url: string): number => numbers.get(url) ?? numbers.set(url, numbers.size + 1).size;
  const shown = ({ text, sources }: Claim): string => [text, ...sources.map((url) => `[${numberOf(url)}]`)].join(" ");
  const parts = sections.map(({ heading, claims }) => `## ${heading}\n\n${claims.map((claim) => `- ${shown(claim)}`).join("\n")}`);
  const titles = new Map(pages.map((page) => [page.url, page.title]));
  const list = [...numbers].map(([url, number]) => `${number}. [${(titles.get(url) ?? url).replace(/[[\]]/g, "")}](${url})`);
  const gaps = open.length > 0 ? [`## Not found\n\n${open.map((one) => `- ${one}`).join("\n")}`] : [];
  return [`# ${title}`, ...parts, ...gaps, ...(list.length > 0 ? [`## Sources\n\n${list.join("\n")}`] : [])].join("\n\n");
}

export interface ReportToolOptions {
  readonly name: string;
  /** The tool whose results list the pages of the research. */
  readonly researcher: string;
  /** False: claims may cite anything. */
  readonly checksCitations: boolean;
}

/** Reports with uncited claims that are refused; of the next one these claims are left out. */
export const refusedMax = 2;

/**
 * Writes the report. A claim that cites no page of the research is refused, and left out after two tries. The user sees all of the report; later runs of
 * the session read its first 100 words.
 */
export const reportTool = ({ name, researcher, checksCitations }: ReportToolOptions): Tool<Report> =>
  defineTool({
    name,
    description:
      "Writes the report that answers the user; each claim names the pages that it comes from. Call it once, when the research is complete.",
    parameters: reportSchema,
    replay: "pure",
    counts: false,
    async *execute(given, { progress, session }) {
      const step = progress("Writing the report", { icon: "WAND" });
      const messages = session.messages();
      const pages = pagesOfResearch(messages, researcher);
      const report = checksCitations ? cited(given, { pages, refused: refusedReports(messages, name) }) : given;
      const text = reportText(report, pages);
      step.end();
      yield { type: "complete", output: envelope(text), details: withCitations(report, pages), summary: envelope(snippet(text)) };
    },
  });

/** @throws AgentError TOOL_ARGUMENTS for claims without a page of the research */
function cited(report: Report, { pages, refused }: { readonly pages: readonly ReadPage[]; readonly refused: number }): Report {
  const uncited = uncitedClaims(report, pages);
  if (uncited.length === 0) return report;
  if (refused < refusedMax) throw new AgentError("TOOL_ARGUMENTS", { message: uncitedText(uncited, pages) });
  const note = `${uncited.length === 1 ? "A claim" : `${uncited.length} claims`} without a source in this research ${uncited.length === 1 ? "was" : "were"} left out.`;
  return { ...withoutClaims(report, uncited), open: [...(report.open ?? []), note] };
}

/** How many reports were refused since the user wrote last. */
export function refusedReports(messages: readonly Message[], name: string): number {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1);
  return since.filter((message) => message.role === "tool_result" && message.toolName === name && message.outcome !== "ok").length;
}
