import { AgentError } from "@loopwright/core";
import Papa from "papaparse";
import type { DataLimits } from "./data-limits.ts";

/** A table as the application attaches it. */
export interface AttachedTable {
  /** For example the name of the file; it becomes a name of SQL. */
  readonly name: string;
  /** With a first row that names the columns. The delimiter is found out. */
  readonly csv: string;
}

export type ColumnType = "INTEGER" | "REAL" | "TEXT";

/** A table as SQL sees it. */
export interface LoadedTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: ColumnType }[];
  /** Empty fields are null. */
  readonly rows: readonly (readonly (string | number | null)[])[];
}

const integer = /^-?(?:0|[1-9]\d{0,14})$/;
const real = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/;

/** Reads tables within the limits. @throws AgentError TOOL_FAILED for a table that cannot be read, or for too much of them */
export function loadTables(tables: readonly AttachedTable[], limits: DataLimits): readonly LoadedTable[] {
  if (tables.length > limits.tablesMax) throw tooMuch(`${tables.length} tables`, `${limits.tablesMax}`);
  const characters = tables.reduce((sum, { csv }) => sum + csv.length, 0);
  if (characters > limits.charactersMax) throw tooMuch(`tables with ${characters} characters`, `${limits.charactersMax}`);
  const taken = new Set<string>();
  return tables.map((table) =>
    loadTable({ ...table, name: freeName(sqlName(table.name.replace(/\.(csv|tsv|txt)$/i, ""), "table"), taken) }, limits),
  );
}

function loadTable({ name, csv }: AttachedTable, limits: DataLimits): LoadedTable {
  const text = csv.startsWith("\uFEFF") ? csv.slice(1) : csv;
  const { data } = Papa.parse<string[]>(text, { delimitersToGuess: [",", ";", "\t", "|"], skipEmptyLines: "greedy" });
  const [header = [], ...body] = data;
  if (header.length === 0)
    throw new AgentError("TOOL_FAILED", { message: `The table \`${name}\` is empty.`, fix: "Attach a table with a first row of names." });
  if (header.length > limits.columnsMax) throw tooMuch(`${header.length} columns of \`${name}\``, `${limits.columnsMax}`);
  const taken = new Set<string>();
  const columns = header.map((title, at) => ({
    name: freeName(sqlName(title, `column_${at + 1}`), taken),
    type: typeOf(body.map((row) => (row[at] ?? "").trim())),
  }));
  return { name, columns, rows: body.map((row) => columns.map(({ type }, at) => fieldValue(row[at] ?? "", type))) };
}

/** Numbers where all fields are numbers; what begins with a zero, such as a postcode, is text. */
function typeOf(fields: readonly string[]): ColumnType {
  const filled = fields.filter((field) => field !== "");
  if (filled.length === 0) return "TEXT";
  if (filled.every((field) => integer.test(field))) return "INTEGER";
  return filled.every((field) => real.test(field)) ? "REAL" : "TEXT";
}

function fieldValue(field: string, type: ColumnType): string | number | null {
  const text = field.trim();
  if (text === "") return null;
  return type === "TEXT" ? field.toWellFormed() : Number(text);
}

/** Lower case, letters, digits and underscores, so that it needs no quotes. */
function sqlName(title: string, fallback: string): string {
  const name = title
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "_")
    .replace(/^_+|_+$/g, "")
    .slice(0, 60);
  if (name === "") return fallback;
  return /^\p{N}/u.test(name) || name.startsWith("sqlite") ? `_${name}` : name;
}

function freeName(wanted: string, taken: Set<string>): string {
  let name = wanted;
  for (let number = 2; taken.has(name); number++) name = `${wanted}_${number}`;
  taken.add(name);
  return name;
}

function tooMuch(what: string, most: string): AgentError {
  return new AgentError("TOOL_FAILED", { message: `The session has ${what}; up to ${most} can be used.`, fix: "Attach smaller tables." });
}
