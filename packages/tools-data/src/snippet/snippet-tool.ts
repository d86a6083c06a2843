import { defineTool, type Tool, type ToolEvent } from "@loopwright/core";
import { systemClock } from "@loopwright/core/memory";
import type { Clock } from "@loopwright/core/ports";
import { z } from "zod";
import { type DataLimits, defaultDataLimits } from "../data-limits.ts";
import type { TableSource } from "../data-tools.ts";
import { loadTables } from "../load-table.ts";
import { runSnippet, type SnippetRequest } from "./run-snippet.ts";
import { defaultSnippetLimits, type SnippetLimits } from "./snippet-limits.ts";

export interface SnippetToolOptions {
  /** What snippets see as `tables`. Default: none. */
  readonly tables?: TableSource;
  readonly limits?: Partial<SnippetLimits>;
  /** Of the tables. */
  readonly dataLimits?: Partial<DataLimits>;
  /** For the deadline. Default: the real time. */
  readonly clock?: Pick<Clock, "after">;
}

export interface SnippetArguments {
  readonly code: string;
}

const parameters: z.ZodType<SnippetArguments> = z.object({
  code: z
    .string()
    .trim()
    .min(1)
    .max(20_000)
    .describe(
      "JavaScript. Its last expression is its value; `console.log` prints; `tables.<name>` is an array with an object for each row.",
    ),
});

/** The tool `run_snippet`: JavaScript over the attached tables, in a sandbox without network, files and host. The same snippet gives the same: it is `pure`. */
export function snippetTool(options: SnippetToolOptions = {}): Tool<SnippetArguments> {
  const { tables: source = [], clock = systemClock } = options;
  const limits = { ...defaultSnippetLimits, ...options.limits };
  const dataLimits = { ...defaultDataLimits, ...options.dataLimits };
  return defineTool({
    name: "run_snippet",
    label: "Snippet",
    description:
      "Runs JavaScript for what SQL cannot compute: statistics, text, simulations. It has the attached tables, and no network, no files, no modules.",
    parameters,
    replay: "pure",
    timeoutMs: limits.deadlineMs + 10_000,
    async *execute({ code }, context): AsyncGenerator<ToolEvent, void> {
      const attached = typeof source === "function" ? await source(context) : source;
      const tables = rowsOf(loadTables(attached, dataLimits));
      const { printed, value, isCut } = await runSnippet({ code, tables, limits, clock, signal: context.signal });
      const parts = [
        ...(printed === "" ? [] : [printed.trimEnd()]),
        `Value: ${value ?? "undefined"}`,
        ...(isCut ? ["(the output was cut)"] : []),
      ];
      yield { type: "complete", output: parts.join("\n"), details: { code, printed, isCut, ...(value === undefined ? {} : { value }) } };
    },
  });
}

function rowsOf(tables: ReturnType<typeof loadTables>): SnippetRequest["tables"] {
  return Object.fromEntries(
    tables.map(({ name, columns, rows }) => [
      name,
      rows.map((row) => Object.fromEntries(columns.map((column, at) => [column.name, row[at] ?? null]))),
    ]),
  );
}
