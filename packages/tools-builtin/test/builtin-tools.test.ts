import { isAgentError, type JsonObject } from "@loopwright/core";
import { runTool, type ToolTrial } from "@loopwright/testing";
import { describe, expect, it } from "vitest";
import { type BuiltinToolsOptions, builtinTools } from "../src/index.ts";

const noon = Date.UTC(2026, 6, 1, 12, 0, 5, 900);
const fixed: BuiltinToolsOptions = { clock: { now: () => noon }, timeZone: "UTC" };

async function call(name: string, args: JsonObject, options: BuiltinToolsOptions = fixed): Promise<ToolTrial> {
  const tool = builtinTools(options).find((candidate) => candidate.name === name);
  if (!tool) throw new Error(`There is no tool ${name}.`);
  return runTool(tool, args);
}

describe("current_time", () => {
  it.each([
    [{}, "2026-07-01T12:00:05+00:00"],
    [{ timeZone: "Europe/Berlin" }, "2026-07-01T14:00:05+02:00"],
    [{ timeZone: "Asia/Kathmandu" }, "2026-07-01T17:45:05+05:45"],
    [{ timeZone: "Pacific/Honolulu" }, "2026-07-01T02:00:05-10:00"],
    [{ format: "unix" }, "1782907205"],
  ] satisfies [JsonObject, string][])("%j gives %s", async (args, expected) => {
    expect((await call("current_time", args)).text).toBe(expected);
  });

  it("gives the long form with weekday and names", async () => {
    const { text } = await call("current_time", { timeZone: "Pacific/Kiritimati", format: "long" });
    expect(text).toMatch(/^Thursday,? 2 July 2026 at 02:00:05 GMT\+14$/);
  });

  it("writes midnight as 00, and follows summer time", async () => {
    const at = (now: number) => ({ ...fixed, clock: { now: () => now } });
    expect((await call("current_time", {}, at(Date.UTC(2026, 0, 1)))).text).toBe("2026-01-01T00:00:00+00:00");
    expect((await call("current_time", { timeZone: "Europe/Berlin" }, at(Date.UTC(2026, 0, 1)))).text).toBe("2026-01-01T01:00:00+01:00");
  });

  it("names the time zone that does not exist", async () => {
    const { result, text } = await call("current_time", { timeZone: "Mars/Base" });
    expect(result.failure?.code).toBe("TOOL_ARGUMENTS");
    expect(text).toContain('There is no time zone "Mars/Base". Use an IANA name');
  });

  it("shows the model the zone that it will get", () => {
    expect(builtinTools({ timeZone: "Asia/Tokyo" })[0]?.description).toContain("Asia/Tokyo");
    const refused = () => {
      try {
        builtinTools({ timeZone: "Nowhere" });
      } catch (error) {
        return isAgentError(error, "CONFIG_INVALID");
      }
      return false;
    };
    expect(refused()).toBe(true);
  });
});

describe("calculate", () => {
  it("gives whole numbers exactly and fractions to the digits asked for", async () => {
    expect((await call("calculate", { expression: "2^200 + 1" })).text).toBe(
      "1606938044258990275541962092341162602522202993782792835301377",
    );
    expect((await call("calculate", { expression: "2/3" })).text).toBe("0.66666666666666666667");
    expect((await call("calculate", { expression: "2/3", digits: 3 })).text).toBe("0.667");
    expect((await call("calculate", { expression: "200!" })).text).toBe("7.8865786736479050355e+374");
  });

  it("answers a mistake with its place, and a long expression with its limit", async () => {
    expect((await call("calculate", { expression: "1 +* 2" })).text).toBe(
      "TOOL_ARGUMENTS: Unexpected `*` at character 4. Correct the expression.",
    );
    expect((await call("calculate", { expression: "1+".repeat(501) })).result.failure?.code).toBe("TOOL_ARGUMENTS");
  });
});

describe("new_uuid", () => {
  it("makes as many different ones as asked for", async () => {
    const lines = (await call("new_uuid", { count: 100 })).text.split("\n");
    expect(new Set(lines).size).toBe(100);
    for (const line of lines) expect(line).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect((await call("new_uuid", {})).text).toHaveLength(36);
    expect((await call("new_uuid", { count: 101 })).result.failure?.code).toBe("TOOL_ARGUMENTS");
  });
});

describe("json_query", () => {
  const json = JSON.stringify({
    users: [{ name: "Ada", tags: ["a", "b"] }, { name: "Bob" }],
    "odd key": { "a.b": 1 },
    none: null,
    toString: 0,
  });

  it.each([
    ["users[0].name", '"Ada"'],
    ["$.users[-1].name", '"Bob"'],
    ["users[*].name", '["Ada","Bob"]'],
    ["users.*.tags[0]", '["a"]'],
    ['["odd key"]["a.b"]', "1"],
    ["['odd key'].*", "[1]"],
    ["none", "null"],
    ["users[*].missing", "[]"],
    ["$", json],
    ["", json],
  ])("the path %s picks %s", async (path, expected) => {
    expect((await call("json_query", { json, path })).text).toBe(expected);
  });

  it.each([
    ["users[2]", "There is no [2] at step 2 of the path: an array of 2."],
    ["users.name", 'There is no "name" at step 2 of the path: an array of 2.'],
    ["users[0].age", 'There is no "age" at step 3 of the path: an object with 2 keys: "name", "tags".'],
    ["valueOf", 'There is no "valueOf" at step 1 of the path: an object with 4 keys: "users", "odd key", "none", "toString".'],
    ["none.x", 'There is no "x" at step 2 of the path: null.'],
    ["users..name", "The path cannot be read from character 6 on."],
    ["users[", "The path cannot be read from character 6 on."],
    [Array(65).fill("a").join("."), "The path has more than 64 steps."],
  ])("the path %s is answered: %s", async (path, message) => {
    expect((await call("json_query", { json, path })).result.failure).toMatchObject({ code: "TOOL_ARGUMENTS", message });
  });

  it("indents and describes", async () => {
    expect((await call("json_query", { json: '{"a":[1]}', action: "pretty" })).text).toBe('{\n  "a": [\n    1\n  ]\n}');
    expect((await call("json_query", { json, action: "describe", path: "users" })).text).toBe("Valid JSON: an array of 2.");
    expect((await call("json_query", { json: '"x"', action: "describe" })).text).toBe("Valid JSON: a string.");
  });

  it.each([
    ['{"a": 1,\n "b": x}', 'unexpected "x" in line 2, column 7'],
    ['{"a": 1', "it ends too early"],
    ["", "it ends too early"],
    ['["a", "b]', "the string that begins in line 1, column 7 is never closed"],
    ["{'a': 1}", 'unexpected "\'" in line 1, column 2'],
    ["[1,]", 'unexpected "]" in line 1, column 4'],
  ])("gives the position where %j is not JSON", async (text, where) => {
    expect((await call("json_query", { json: text })).result.failure?.message).toBe(`The text is not JSON: ${where}.`);
  });

  it("refuses what is too deep, poisoned or endless", async () => {
    const messageOf = async (args: JsonObject) => (await call("json_query", args)).result.failure?.message;
    expect(await messageOf({ json: `${"[".repeat(50_000)}${"]".repeat(50_000)}` })).toBe("The JSON is nested too deeply.");
    expect(await messageOf({ json: '{"__proto__":1}' })).toBe("The JSON has a forbidden key in it.");
    expect(await messageOf({ json: JSON.stringify(Array(10_001).fill(0)), path: "[*]" })).toBe("The path leads to more than 10000 values.");
    expect((await call("json_query", { json: " ".repeat(1_000_001) })).result.failure?.code).toBe("TOOL_ARGUMENTS");
  });
});

describe("csv_to_json", () => {
  const rowsOf = async (args: JsonObject): Promise<unknown> => JSON.parse((await call("csv_to_json", args)).text);

  it("reads quoted fields with delimiters, quotes and line ends in them", async () => {
    expect(await rowsOf({ csv: 'name,note\r\n"Ada, L.","said ""hi""\nand left"\r\nBob,\r\n' })).toEqual([
      { name: "Ada, L.", note: 'said "hi"\nand left' },
      { name: "Bob", note: "" },
    ]);
  });

  it("keeps values as they are written, and finds the delimiter", async () => {
    expect(await rowsOf({ csv: "\uFEFFid;x\n007;1,5\n" })).toEqual([{ id: "007", x: "1,5" }]);
    expect(await rowsOf({ csv: "a|b\n1|2", delimiter: "|" })).toEqual([{ a: "1", b: "2" }]);
    expect(await rowsOf({ csv: "1,2\n3,4", header: false })).toEqual([
      ["1", "2"],
      ["3", "4"],
    ]);
  });

  it("gives every column a name of its own, and rows of any width their fields", async () => {
    expect(await rowsOf({ csv: "a,a,,column_4\n1,2,3,4,5\n1\n" })).toEqual([
      { a: "1", a_2: "2", column_3: "3", column_4: "4", column_5: "5" },
      { a: "1", a_2: null, column_3: null, column_4: null },
    ]);
  });

  it("streams a long answer, cuts it between rows and reports the cut", async () => {
    const csv = `n,text\n${Array.from({ length: 5_000 }, (_, at) => `${at},${"x".repeat(20)}`).join("\n")}`;
    const { deltas, text, result } = await call("csv_to_json", { csv });
    expect(deltas.length).toBeGreaterThan(10);
    expect(text.length).toBeLessThan(100_000);
    const note = /\n\(the first (\d+) of 5000 rows\)$/.exec(text);
    expect(JSON.parse(text.slice(0, note?.index))).toHaveLength(Number(note?.[1]));
    expect(result.details).toEqual({ rows: 5_000, given: Number(note?.[1]), columns: ["n", "text"] });
    expect((await call("csv_to_json", { csv, limit: 1 })).text).toBe(
      `[\n{"n":"0","text":"${"x".repeat(20)}"}\n]\n(the first 1 of 5000 rows)`,
    );
  });

  it.each([
    ["", "The CSV text is empty."],
    ['a,b\n"open,1\n', "Row 2: Quoted field unterminated."],
    ["__proto__,b\n1,2", "A column may not be called `__proto__`."],
    [`${"x,".repeat(1_000)}y`, "A row has 1001 columns; up to 1000 can be read."],
  ])("refuses %j: %s", async (csv, message) => {
    expect((await call("csv_to_json", { csv })).result.failure).toMatchObject({ code: "TOOL_ARGUMENTS", message });
  });
});
