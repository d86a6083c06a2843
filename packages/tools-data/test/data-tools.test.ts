import { createAgent, createSession, execute } from "@loopwright/core";
import { manualClock, scripted } from "@loopwright/core/memory";
import { runKit, runTool, toolKit } from "@loopwright/testing";
import { describe, expect, it } from "vitest";
import { type DataToolsOptions, dataTools } from "../src/index.ts";

const sales = 'Region;Units sold;Price;Postcode;Note\nNorth;3;0.1;01234;"a | b; c"\nSouth;;0.2;04567;\nNorth;39;2.5;09999;x\n';
const regions = "region,manager\nNorth,Ann\nSouth,Bob\n";
const attached = [
  { name: "Sales 2026.csv", csv: sales },
  { name: "regions", csv: regions },
];

function toolOf(name: string, options: Partial<DataToolsOptions> = {}) {
  const tool = dataTools({ tables: attached, ...options }).find((candidate) => candidate.name === name);
  if (!tool) throw new Error(`There is no tool ${name}.`);
  return tool;
}

const query = (sql: string, options: Partial<DataToolsOptions> = {}) => runTool(toolOf("query_tables", options), { sql });
const failed = async (sql: string) => (await query(sql)).text;

const streaming = { capability: "streaming", reason: "its answer is short" };
describe("describe_tables keeps the promises of a tool (B103)", () =>
  runKit(it, toolKit, {
    make: async () => ({ tool: toolOf("describe_tables"), args: {} }),
    lacks: [streaming, { capability: "failing", reason: "it has no arguments" }],
  }));
describe("query_tables keeps the promises of a tool (B103)", () =>
  runKit(it, toolKit, {
    make: async () => ({ tool: toolOf("query_tables"), args: { sql: "SELECT 1" }, failingArgs: { sql: "SELECT nothing" } }),
    lacks: [streaming],
  }));

describe("tables (B103)", () => {
  it("are described with names for SQL, types, counts and first rows", async () => {
    const { text } = await runTool(toolOf("describe_tables"), {});
    expect(text).toBe(
      [
        "sales_2026 (region TEXT, units_sold INTEGER, price REAL, postcode TEXT, note TEXT): 3 rows",
        "| region | units_sold | price | postcode | note |\n| --- | --- | --- | --- | --- |",
        "| North | 3 | 0.1 | 01234 | a \\| b; c |\n| South | NULL | 0.2 | 04567 | NULL |\n| North | 39 | 2.5 | 09999 | x |\n",
        "regions (region TEXT, manager TEXT): 2 rows\n| region | manager |\n| --- | --- |\n| North | Ann |\n| South | Bob |",
      ].join("\n"),
    );
  });

  it("answer with the true sum, and with the query used", async () => {
    const rows = Array.from({ length: 5_000 }, (_, at) => (at * 7_919) % 1_000);
    const tables = [{ name: "figures", csv: `value\n${rows.join("\n")}\n` }];
    const sql = "SELECT sum(value) AS total, count(*) FROM figures";
    const { text, result } = await query(sql, { tables });
    const total = rows.reduce((sum, value) => sum + value, 0);
    expect(text).toBe(`Query: ${sql}\n\n| total | count(*) |\n| --- | --- |\n| ${total} | 5000 |\n\n(1 row)`);
    expect(result.details).toEqual({ sql, columns: ["total", "count(*)"], rows: [[total, 5_000]], isCut: false });
  });

  it("are joined, and fractions are shown without the errors of binary numbers", async () => {
    const { result } = await query(
      "WITH s AS (SELECT * FROM sales_2026) SELECT manager, sum(price) FROM s JOIN regions USING (region) GROUP BY 1 ORDER BY 1",
    );
    expect(result.details).toMatchObject({
      rows: [
        ["Ann", 2.6],
        ["Bob", 0.2],
      ],
    });
    expect((await query("SELECT 0.1 + 0.2, 9007199254740993, x'00', NULL")).result.details).toMatchObject({
      rows: [[0.3, "9007199254740993", "(1 bytes)", null]],
    });
  });

  it("come from the session of the call", async () => {
    const provider = scripted([{ calls: [{ name: "query_tables", args: { sql: "SELECT sum(n) AS total FROM t" } }] }, { text: "6." }]);
    const tools = dataTools({ tables: ({ access }) => (access.user === "local" ? [{ name: "t.csv", csv: "n\n1\n2\n3" }] : []) });
    await using session = createSession({ agent: createAgent({ name: "a", provider, tools }) });
    await execute(session, "Sum?").result();
    expect(JSON.stringify(provider.requests.at(-1))).toContain("| 6 |");
    expect((await query("SELECT 1", { tables: [] })).text).toContain("The session has no tables.");
  });

  it("with odd heads get names that are free, and odd fields stay what they are", async () => {
    const csv = "\uFEFFa,A, ,1st,sqlite_x,a\n1,2,3,4,5,6\n";
    const { text } = await runTool(
      toolOf("describe_tables", {
        tables: [
          { name: "", csv },
          { name: "", csv: "x,y\n'); DROP TABLE a; --,1\n" },
        ],
      }),
      {},
    );
    expect(text).toContain("table (a INTEGER, a_2 INTEGER, column_3 INTEGER, _1st INTEGER, _sqlite_x INTEGER, a_3 INTEGER): 1 rows");
    expect(text).toContain("table_2 (x TEXT, y INTEGER): 1 rows\n| x | y |\n| --- | --- |\n| '); DROP TABLE a; -- | 1 |");
  });
});

describe("a query (B103, X05)", () => {
  it.each([
    "DELETE FROM regions",
    "ATTACH 'other.db' AS other",
    "PRAGMA query_only = OFF",
    "/* SELECT */ -- SELECT\n VACUUM INTO 'x.db'",
    "WITH x AS (SELECT 1) DELETE FROM regions",
    "WITH x AS (SELECT 1) INSERT INTO regions VALUES ('a', 'b')",
    "SELECT load_extension('x')",
    "SELECT readfile('/etc/passwd')",
    "SELECT writefile('x', 'y')",
    "SELECT * FROM none",
    "SELECT FROM",
  ])("that does more than read, or is wrong, is refused: %s", async (sql) => {
    expect(await failed(sql)).toMatch(/^TOOL_ARGUMENTS: (The query does not begin|SQLite refused the query)/);
  });

  it("runs its first statement alone", async () => {
    const two = await query("SELECT count(*) AS n FROM regions; DROP TABLE regions");
    expect(two.text).toMatch(/\| 2 \||SQLite refused/);
    expect((await query("SELECT count(*) AS n FROM regions")).result.details).toMatchObject({ rows: [[2]] });
  });

  it("that never ends is killed with its process at the deadline, and when the run is aborted", async () => {
    const endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";
    const clock = manualClock();
    const running = query(endless, { clock });
    while (clock.pending < 1) await new Promise(setImmediate);
    clock.advance(15_000);
    expect((await running).text).toContain("TOOL_TIMEOUT: The query did not end within 15000 ms.");
    const controller = new AbortController();
    const aborted = runTool(toolOf("query_tables"), { sql: endless }, { context: { signal: controller.signal } });
    controller.abort();
    expect((await aborted).result.outcome).not.toBe("ok");
  });

  it("gives no more rows and no longer cells than its limits, and uses no more memory", async () => {
    const many = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c";
    const { result, text } = await query(many, { limits: { rowsMax: 5 } });
    expect(result.details).toMatchObject({ rows: [[1], [2], [3], [4], [5]], isCut: true });
    expect(text).toMatch(/\(5 rows, and more that are not shown\)$/);
    expect((await query("SELECT printf('%.*c', 100000, 'x')")).text.length).toBeLessThan(700);
    const large = "WITH RECURSIVE c(x, y) AS (SELECT 1, zeroblob(5000000) UNION SELECT x + 1, y FROM c) SELECT count(*) FROM c";
    if (process.platform === "linux")
      expect((await query(large, { limits: { memoryBytesMax: 150_000_000 } })).text).toBe(
        "TOOL_FAILED: The query used more than 150000000 bytes. Use a query that needs less memory.",
      );
  });

  it("M05: sees no environment and no files of this process", async () => {
    const names = (await query("SELECT name FROM pragma_database_list WHERE file <> ''")).result.details;
    expect(names).toMatchObject({ rows: [] });
  });
});

describe("too many tables", () => {
  it.each([
    ["tables", { tablesMax: 1 }, "2 tables; up to 1"],
    ["characters", { charactersMax: 10 }, "characters; up to 10"],
    ["columns", { columnsMax: 4 }, "5 columns of `sales_2026`; up to 4"],
  ])("or too large ones are refused with their limit: %s", async (_, limits, written) => {
    expect((await runTool(toolOf("describe_tables", { limits }), {})).text).toContain(written);
  });
});
