import { defineTool, type Tool, type ToolEvent } from "@loopwright/core";
import Papa from "papaparse";
import { z } from "zod";
import { badArguments } from "./bad-arguments.ts";

export interface CsvToJsonArguments {
  readonly csv: string;
  readonly delimiter?: "," | ";" | "\t" | "|" | undefined;
  readonly header?: boolean | undefined;
  readonly limit?: number | undefined;
}

const csvLimits: { readonly textMax: number; readonly columnsMax: number; readonly outputMax: number; readonly deltaMin: number } = {
  /** Characters of the CSV text. */
  textMax: 1_000_000,
  columnsMax: 1_000,
  /** Characters of the answer; below the 100,000 that reach the model. */
  outputMax: 90_000,
  /** Characters that are gathered before a piece of the answer is given. */
  deltaMin: 4_096,
};

const parameters: z.ZodType<CsvToJsonArguments> = z.object({
  csv: z.string().max(csvLimits.textMax).describe("The CSV text."),
  delimiter: z.enum([",", ";", "\t", "|"]).optional().describe("Default: found out."),
  header: z.boolean().optional().describe("Whether the first row names the columns. Default true."),
  limit: z.number().int().min(1).optional().describe("How many rows to give. Default: as many as fit."),
});

/** The tool `csv_to_json`: every row as an object (without header as an array) of strings, streamed. */
export function csvToJson(): Tool<CsvToJsonArguments> {
  return defineTool({
    name: "csv_to_json",
    label: "CSV",
    description: "Turns CSV text, quoted fields included, into a JSON list of rows. Values stay strings, missing ones are null.",
    parameters,
    replay: "pure",
    async *execute({ csv, delimiter, header = true, limit = Number.POSITIVE_INFINITY }, { signal }): AsyncGenerator<ToolEvent, void> {
      const rows = parse(csv, delimiter);
      const columns = header ? columnsOf(rows) : undefined;
      let piece = "[";
      let given = 0;
      let length = 0;
      for (const row of rows) {
        const text = `${given === 0 ? "\n" : ",\n"}${JSON.stringify(columns ? objectOf(columns, row) : row)}`;
        if (given >= limit || length + text.length > csvLimits.outputMax) break;
        piece += text;
        length += text.length;
        given++;
        if (piece.length < csvLimits.deltaMin) continue;
        signal.throwIfAborted();
        yield { type: "delta", delta: piece };
        piece = "";
      }
      const rest = given < rows.length ? `\n(the first ${given} of ${rows.length} rows)` : "";
      signal.throwIfAborted();
      yield { type: "delta", delta: `${piece}\n]${rest}` };
      yield {
        type: "complete",
        output: undefined,
        details: { rows: rows.length, given, columns: columns?.names.slice(0, columns.count) ?? null },
      };
    },
  });
}

function parse(csv: string, delimiter: string | undefined): string[][] {
  const text = csv.startsWith("\uFEFF") ? csv.slice(1) : csv;
  if (text.trim() === "") throw badArguments("The CSV text is empty.");
  const { data, errors } = Papa.parse<string[]>(text, {
    ...(delimiter === undefined ? {} : { delimiter }),
    delimitersToGuess: [",", ";", "\t", "|"],
    skipEmptyLines: true,
  });
  const quotes = errors.find((error) => error.type === "Quotes");
  if (quotes)
    throw badArguments(`Row ${(quotes.row ?? 0) + 1}: ${quotes.message}.`, "Close every quote, and double quotes inside of quotes.");
  const widest = data.reduce((most, row) => Math.max(most, row.length), 0);
  if (widest > csvLimits.columnsMax) throw badArguments(`A row has ${widest} columns; up to ${csvLimits.columnsMax} can be read.`);
  return data;
}

interface Columns {
  /** As many as the widest row has fields. */
  readonly names: readonly string[];
  /** How many of them the header has: a row always has these. */
  readonly count: number;
}

/** Takes the header off. Names are trimmed; an empty or missing one becomes `column_<n>`, one given twice gets a number. */
function columnsOf(rows: string[][]): Columns {
  const widest = rows.reduce((most, row) => Math.max(most, row.length), 0);
  const header = rows.shift() ?? [];
  const names = new Set<string>();
  for (let at = 0; at < widest; at++) {
    const wanted = header[at]?.trim() || `column_${at + 1}`;
    if (["__proto__", "constructor", "prototype"].includes(wanted)) throw badArguments(`A column may not be called \`${wanted}\`.`);
    let name = wanted;
    for (let number = 2; names.has(name); number++) name = `${wanted}_${number}`;
    names.add(name);
  }
  return { names: [...names], count: header.length };
}

function objectOf({ names, count }: Columns, row: readonly string[]): { readonly [name: string]: string | null } {
  const shown = names.slice(0, Math.max(count, row.length));
  return Object.fromEntries(shown.map((name, at) => [name, row[at] ?? null]));
}
