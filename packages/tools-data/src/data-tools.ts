import { AgentError, defineTool, type Tool, type ToolContext, type ToolEvent } from "@loopwright/core";
import { systemClock } from "@loopwright/core/memory";
import type { Clock } from "@loopwright/core/ports";
import { z } from "zod";
import { type DataLimits, defaultDataLimits } from "./data-limits.ts";
import { type AttachedTable, type LoadedTable, loadTables } from "./load-table.ts";
import { type QueryResult, runQuery } from "./run-query.ts";

/** The tables of a session: the same for all, or looked up for each call, for example from its attachments. */
export type TableSource =
  | readonly AttachedTable[]
  | ((context: ToolContext) => PromiseLike<readonly AttachedTable[]> | readonly AttachedTable[]);

export interface DataToolsOptions {
  readonly tables: TableSource;
  readonly limits?: Partial<DataLimits>;
  /** For the deadline. Default: the real time. */
  readonly clock?: Pick<Clock, "after">;
}

interface QueryArguments {
  readonly sql: string;
}

const queryParameters: z.ZodType<QueryArguments> = z.object({
  sql: z.string().trim().min(1).max(10_000).describe("One SELECT statement of SQLite."),
});

const sampleRows = 3;

/** The tools `describe_tables` and `query_tables` over attached tables. They only read. */
export function dataTools(options: DataToolsOptions): readonly Tool[] {
  const limits = { ...defaultDataLimits, ...options.limits };
  const load = async (context: ToolContext): Promise<readonly LoadedTable[]> => {
    const tables = loadTables(typeof options.tables === "function" ? await options.tables(context) : options.tables, limits);
    if (tables.length > 0) return tables;
    throw new AgentError("TOOL_FAILED", { message: "The session has no tables.", fix: "Ask the user to attach a table as CSV." });
  };
  return [describeTables(load), queryTables(load, { limits, clock: options.clock ?? systemClock })] as readonly Tool[];
}

type Load = (context: ToolContext) => Promise<readonly LoadedTable[]>;

function describeTables(load: Load): Tool<Record<string, never>> {
  const parameters: z.ZodType<Record<string, never>> = z.object({}) as never;
  return defineTool({
    name: "describe_tables",
    label: "Tables",
    description: "Lists the attached tables with their columns, types, counts of rows and first rows. Call it before a query.",
    parameters,
    replay: "pure",
    execute: async (_, context) => (await load(context)).map(described).join("\n\n"),
  });
}

function described({ name, columns, rows }: LoadedTable): string {
  const heads = columns.map((column) => `${column.name} ${column.type}`).join(", ");
  const sample = markdownOf({ columns: columns.map((column) => column.name), rows: rows.slice(0, sampleRows), isCut: false });
  return `${name} (${heads}): ${rows.length} rows\n${sample}`;
}

function queryTables(load: Load, settings: { readonly limits: DataLimits; readonly clock: Pick<Clock, "after"> }): Tool<QueryArguments> {
  return defineTool({
    name: "query_tables",
    label: "Query",
    description:
      "Answers a question about the attached tables with SQL (SQLite): sums, averages, groups, joins. Gives the rows and the query used.",
    parameters: queryParameters,
    replay: "pure",
    timeoutMs: settings.limits.deadlineMs + 10_000,
    async *execute({ sql }, context): AsyncGenerator<ToolEvent, void> {
      const result = await runQuery({ tables: await load(context), sql, signal: context.signal, ...settings });
      const count = `${result.rows.length} row${result.rows.length === 1 ? "" : "s"}${result.isCut ? ", and more that are not shown" : ""}`;
      const output = `Query: ${sql}\n\n${markdownOf(result)}\n\n(${count})`;
      yield {
        type: "complete",
        output,
        details: { sql, columns: [...result.columns], rows: result.rows.map((row) => [...row]), isCut: result.isCut },
      };
    },
  });
}

function markdownOf({ columns, rows }: QueryResult): string {
  const line = (cells: readonly (string | number | null)[]): string => `| ${cells.map(cellOf).join(" | ")} |`;
  return [line(columns), `|${" --- |".repeat(columns.length)}`, ...rows.map(line)].join("\n");
}

function cellOf(value: string | number | null): string {
  const text = value === null ? "NULL" : String(value);
  return (text.length > 500 ? `${text.slice(0, 500)}...` : text).replace(/\s+/g, " ").replaceAll("|", "\\|");
}
