import { isMissed, type Judged, type Row } from "./row.ts";

/** The columns of one table, and what a row prints in each. */
export interface Columns {
  readonly head: readonly string[];
  cells(row: Row): readonly string[];
}

function written(value: number | undefined, format: Row["format"] = "ratio"): string {
  if (value === undefined) return "";
  if (Number.isNaN(value)) return "not measured";
  return format === "ratio" ? value.toFixed(2) : `${value.toFixed(value < 10 ? 2 : 0)} ${format}`;
}

function goalOf({ loopwright, node, format }: Row): string {
  const own = loopwright?.goal;
  if (own === undefined) return "";
  const other = node?.goal;
  return `≤ ${written(own, format)}${other === undefined || other === own ? "" : `, node ${written(other, format)}`}`;
}

/** By how much a goal is missed, in percent of the goal. */
function verdictOn(name: string, judged: Judged | undefined): readonly string[] {
  if (!judged || judged.goal === undefined || !isMissed(judged)) return [];
  const percent = Math.round((judged.value / judged.goal - 1) * 100);
  return [`**missed${name}** by ${Number.isNaN(percent) ? "an unknown amount" : `${percent} %`}`];
}

function verdictOf(row: Row): string {
  if (row.loopwright?.goal === undefined) return "";
  const missed = [...verdictOn("", row.loopwright), ...verdictOn(" with node", row.node)];
  return missed.length > 0 ? missed.join(", ") : "met";
}

/** In process: the client of a model. */
export const processColumns: Columns = {
  head: [
    "what",
    "openai SDK, by hand (= 1)",
    "fetch + SSE, by hand",
    "`node:http` + SSE, by hand",
    "Loopwright over `fetch`",
    "Loopwright by default",
    "goal",
    "verdict",
  ],
  cells: (row) => [
    row.title,
    row.basis,
    written(row.raw, row.format),
    written(row.rawNode, row.format),
    written(row.loopwright?.value, row.format),
    written(row.node?.value, row.format),
    goalOf(row),
    verdictOf(row),
  ],
};

/** Over HTTP: the server. */
export const httpColumns: Columns = {
  head: ["what", "compared with (= 1)", "Hono `streamSSE`", "Loopwright", "single rounds", "goal", "verdict"],
  cells: (row) => [
    row.title,
    row.basis,
    written(row.raw, row.format),
    written(row.loopwright?.value, row.format),
    row.spread ?? "",
    goalOf(row),
    verdictOf(row),
  ],
};

/** In a browser, and of logs and stores: what has no counterpart. */
export const pageColumns: Columns = {
  head: ["what", "beside it", "Loopwright", "single rounds", "goal", "verdict"],
  cells: (row) => [row.title, row.basis, written(row.loopwright?.value, row.format), row.spread ?? "", goalOf(row), verdictOf(row)],
};

/** The rows as a Markdown table. */
export function printTable(rows: readonly Row[], { head, cells }: Columns): string {
  return [head, head.map(() => "---"), ...rows.map(cells)].map((line) => `| ${line.join(" | ")} |`).join("\n");
}

/** One row for a terminal. */
export const printRow = (row: Row): string =>
  `${row.title}: 1 is ${row.basis}; ${row.raw === undefined ? "" : `by others ${written(row.raw, row.format)}${row.rawNode === undefined ? "" : ` / ${written(row.rawNode, row.format)}`}, `}Loopwright ${written(row.loopwright?.value, row.format)}${row.node ? `, node ${written(row.node.value, row.format)}` : ""}${goalOf(row) === "" ? "" : ` (${goalOf(row)}: ${verdictOf(row)})`}`;
