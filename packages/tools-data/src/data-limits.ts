/** What the tables of a session and one query may use up. */
export interface DataLimits {
  /** Characters of the CSV of all tables together. Default 20,000,000. */
  readonly charactersMax: number;
  /** Tables. Default 20. */
  readonly tablesMax: number;
  /** Columns of a table. Default 500. */
  readonly columnsMax: number;
  /** Milliseconds of a query with the loading of its tables; then its process is killed. Default 15,000. */
  readonly deadlineMs: number;
  /** Bytes of the process of a query, tables included; beyond them it is killed. Watched on Linux alone. Default 512 MiB. */
  readonly memoryBytesMax: number;
  /** Bytes of one value, where this Node.js can limit them. Default 50,000,000. */
  readonly valueBytesMax: number;
  /** Rows that a query gives to the model. Default 200. */
  readonly rowsMax: number;
  /** Characters of a cell that are shown. Default 500. */
  readonly cellCharactersMax: number;
  /** Characters of all cells of an answer; rows beyond are left out. Default 40,000. */
  readonly outputCharactersMax: number;
}

export const defaultDataLimits: DataLimits = {
  charactersMax: 20_000_000,
  tablesMax: 20,
  columnsMax: 500,
  deadlineMs: 15_000,
  memoryBytesMax: 512 * 1024 * 1024,
  valueBytesMax: 50_000_000,
  rowsMax: 200,
  cellCharactersMax: 500,
  outputCharactersMax: 40_000,
};
