/**
 * What the process of a query runs: it reads one JSON request from its input, loads the tables into an SQLite database in memory, forbids changes, and
 * writes one JSON answer. It is text, so that it runs the same from sources and from a build; it imports nothing but `node:sqlite`.
 */
export const queryProgram = `
import { DatabaseSync } from "node:sqlite";
let input = "";
for await (const chunk of process.stdin.setEncoding("utf8")) input += chunk;
const { tables, sql, limits } = JSON.parse(input);
const quoted = (name) => '"' + name.replaceAll('"', '""') + '"';
const answer = () => {
  const database = new DatabaseSync(":memory:", { limits: { length: limits.valueBytesMax } });
  database.exec("PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF; BEGIN");
  for (const { name, columns, rows } of tables) {
    database.exec("CREATE TABLE " + quoted(name) + " (" + columns.map((column) => quoted(column.name) + " " + column.type).join(", ") + ")");
    const insert = database.prepare("INSERT INTO " + quoted(name) + " VALUES (" + columns.map(() => "?").join(", ") + ")");
    for (const row of rows) insert.run(...row);
  }
  database.exec("COMMIT; PRAGMA query_only = ON");
  const statement = database.prepare(sql);
  statement.setReadBigInts(true);
  const columns = statement.columns().map((column) => column.name);
  const rows = [];
  let [count, characters] = [0, 0];
  const cell = (value) => {
    if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    if (value instanceof Uint8Array) return "(" + value.length + " bytes)";
    if (typeof value === "number") return Number.isFinite(value) ? Number(value.toPrecision(15)) : String(value);
    return typeof value === "string" && value.length > limits.cellCharactersMax ? value.slice(0, limits.cellCharactersMax) + "..." : value;
  };
  statement.setReturnArrays?.(true);
  for (const row of statement.iterate()) {
    count++;
    if (count > limits.rowsMax || characters > limits.outputCharactersMax) return { columns, rows, isCut: true };
    const cells = (Array.isArray(row) ? row : Object.values(row)).map(cell);
    for (const value of cells) characters += String(value).length + 3;
    rows.push(cells);
  }
  return { columns, rows, isCut: false };
};
let result;
try {
  result = answer();
} catch (error) {
  result = { error: String(error && error.message).slice(0, 500) };
}
process.stdout.write(JSON.stringify(result));
`;
