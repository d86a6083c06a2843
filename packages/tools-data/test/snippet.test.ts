import { manualClock } from "@loopwright/core/memory";
import { runKit, runTool, toolKit } from "@loopwright/testing";
import { describe, expect, it } from "vitest";
import { type SnippetToolOptions, snippetTool } from "../src/index.ts";

const tables = [{ name: "Sales 2026.csv", csv: "region,units\nNorth,3\nSouth,39\n" }];
const run = (code: string, options: SnippetToolOptions = {}) => runTool(snippetTool({ tables, ...options }), { code });

describe("run_snippet keeps the promises of a tool (B103)", () =>
  runKit(it, toolKit, {
    make: async () => ({ tool: snippetTool({ tables }), args: { code: "1 + 1" }, failingArgs: { code: "nothing.at.all" } }),
    lacks: [{ capability: "streaming", reason: "its answer is short" }],
  }));

describe("a snippet (B103)", () => {
  it("computes over the attached tables, prints, and gives its last value with the code in details", async () => {
    const code = "console.log('rows', tables.sales_2026.length); tables.sales_2026.reduce((sum, row) => sum + row.units, 0)";
    const { text, result } = await run(code);
    expect(text).toBe("rows 2\nValue: 42");
    expect(result.details).toEqual({ code, printed: "rows 2\n", value: "42", isCut: false });
  });

  it.each([
    ["an object", "({ a: [1, null] })", 'Value: {"a":[1,null]}'],
    ["nothing", "undefined", "Value: undefined"],
    ["a promise", "Promise.resolve(1).then((one) => one + 1)", "Value: 2"],
    ["a function", "() => 1", "Value: function"],
  ])("may have as its value %s", async (_, code, shown) => {
    expect((await run(code)).text).toBe(shown);
  });

  it.each([
    ["throws", "throw new TypeError('no')", "TypeError: no"],
    ["is no JavaScript", "let let", "SyntaxError"],
    ["rejects", "Promise.reject(new Error('late'))", "Error: late"],
    ["never settles", "new Promise(() => {})", "never settled"],
    ["has a value without a JSON form", "const a = {}; a.a = a; a", "TypeError"],
  ])("that %s is an error that the model reads", async (_, code, written) => {
    const { text } = await run(code);
    expect(text).toContain("The snippet failed");
    expect(text).toContain(written);
  });

  it("shows what it printed before it failed", async () => {
    expect((await run("console.log('so far'); fail()")).text).toContain("so far");
  });
});

describe("the limits of a snippet", () => {
  it("a loop without an end is stopped at the deadline", async () => {
    expect((await run("for (;;) {}", { limits: { deadlineMs: 300 } })).text).toMatch(/interrupted|did not end within 300 ms/);
  });

  it("a chain of promises without an end is stopped with its thread", async () => {
    const code = "const again = () => Promise.resolve().then(again); again(); 1";
    expect((await run(code, { limits: { deadlineMs: 300 } })).text).toMatch(/interrupted|did not end within 300 ms/);
  });

  it("the deadline is that of the clock it was given", async () => {
    const clock = manualClock();
    let isOver = false;
    const running = run("for (;;) {}", { clock, limits: { deadlineMs: 600_000 } }).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      clock.advance(600_000);
      await new Promise(setImmediate);
    }
    expect((await running).text).toContain("did not end within 600000 ms");
  });

  it.each([
    ["many objects", "const all = []; for (;;) all.push({ a: all.length })"],
    ["long texts", "const all = []; for (;;) all.push('x'.repeat(100000) + all.length)"],
    ["one buffer", "new ArrayBuffer(1000000000).byteLength"],
    ["large arrays", "const all = []; for (;;) all.push(new Array(100000).fill(1.5))"],
  ])("memory is bounded: %s", async (_, code) => {
    const { text } = await run(code, { limits: { memoryBytesMax: 24 * 1024 * 1024, deadlineMs: 60_000 } });
    expect(text).toMatch(/out of memory|ended without an answer/i);
  });

  it("the stack is bounded", async () => {
    expect((await run("const deep = (n) => deep(n + 1) + 1; deep(0)")).text).toMatch(/stack|call depth/i);
  });

  it("the output is bounded, what is printed and the value each", async () => {
    const { text } = await run("for (let at = 0; at < 1000; at++) console.log('x'.repeat(100)); 'y'.repeat(100000)", {
      limits: { outputCharactersMax: 1_000 },
    });
    expect(text.length).toBeLessThan(2_200);
    expect(text).toContain("(the output was cut)");
  });
});

describe("what a snippet cannot reach", () => {
  it.each([
    "process",
    "require",
    "module",
    "Buffer",
    "fetch",
    "XMLHttpRequest",
    "WebAssembly",
    "setTimeout",
    "parentPort",
    "workerData",
    "__print",
    "__tables",
    "std",
    "os",
  ])("there is no `%s`", async (name) => {
    expect((await run(`typeof ${name}`)).text).toBe('Value: "undefined"');
  });

  it.each([
    ["the constructor of a function of the host", "console.log.constructor('return typeof process')()", 'Value: "undefined"'],
    [
      "the constructor of a constructor",
      "this.constructor.constructor('return typeof process + typeof require')()",
      '"undefinedundefined"',
    ],
    ["an indirect eval", "(0, eval)('typeof process')", 'Value: "undefined"'],
    ["an import", "import('node:fs').then((fs) => Object.keys(fs))", "The snippet failed"],
    ["a static import", "import fs from 'node:fs'; fs", "The snippet failed"],
    [
      "the thrown error of the host",
      "try { null.x } catch (error) { error.constructor.constructor('return typeof process')() }",
      '"undefined"',
    ],
    ["a getter in its value", "({ get a() { return this.constructor.constructor('return typeof process')() } })", '{"a":"undefined"}'],
    ["a changed JSON", "JSON.stringify = () => ({ then() {} }); 1", "Value: number"],
    ["a prototype of the host", "Object.prototype.polluted = 1; Array.prototype.toJSON = () => 'x'; [1]", 'Value: "x"'],
    ["a proxy of everything", "new Proxy(function () {}, { get: () => 'x' })", "Value: function"],
  ])("by %s", async (_, code, shown) => {
    expect((await run(code)).text).toContain(shown);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("another snippet of the same session", async () => {
    const tool = snippetTool({ tables });
    await runTool(tool, { code: "globalThis.kept = 1" });
    expect((await runTool(tool, { code: "typeof kept" })).text).toBe('Value: "undefined"');
  });
});
