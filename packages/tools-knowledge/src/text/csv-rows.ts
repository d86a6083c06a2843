/**
 * The rows of a CSV as texts that can be read by themselves: `name: Ann; city: Bern`. The first row names the columns. The delimiter is the comma, the
 * semicolon or the tab, whichever the first row has most of.
 */
export function csvRows(csv: string): readonly string[] {
  const rows = cellsOf(csv, delimiterOf(csv));
  const [names = [], ...records] = rows.filter((row) => row.some((cell) => cell.trim() !== ""));
  if (records.length === 0) return names.length === 0 ? [] : [names.join("; ")];
  return records.map((record) =>
    record
      .map((cell, at) => ({ name: (names[at] ?? "").trim(), cell: cell.trim() }))
      .filter(({ cell }) => cell !== "")
      .map(({ name, cell }) => (name === "" ? cell : `${name}: ${cell}`))
      .join("; "),
  );
}

function delimiterOf(csv: string): string {
  const [first = ""] = csv.split("\n", 1);
  const countOf = (mark: string): number => first.split(mark).length;
  return [",", ";", "\t"].reduce((best, mark) => (countOf(mark) > countOf(best) ? mark : best));
}

/** Rows of cells; a quoted cell may hold delimiters, line breaks and doubled quotes. */
function cellsOf(csv: string, delimiter: string): readonly (readonly string[])[] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let isQuoted = false;
  const endCell = (): void => {
    row.push(cell);
    cell = "";
  };
  const endRow = (): void => {
    endCell();
    rows.push(row);
    row = [];
  };
  for (let at = 0; at < csv.length; at++) {
    const letter = csv[at] ?? "";
    if (isQuoted) {
      if (letter !== '"') cell += letter;
      else if (csv[at + 1] === '"') cell += csv[++at];
      else isQuoted = false;
    } else if (letter === '"' && cell === "") isQuoted = true;
    else if (letter === delimiter) endCell();
    else if (letter === "\n") endRow();
    else if (letter !== "\r") cell += letter;
  }
  if (cell !== "" || row.length > 0) endRow();
  return rows;
}
