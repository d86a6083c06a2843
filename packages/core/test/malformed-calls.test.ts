import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineTool, execute, type JsonObject, type ModelChunk, type Tool } from "../src/index.ts";
import { seededRandom } from "../src/memory/seeded-random.ts";
import { parseArguments } from "../src/message/assemble-message.ts";
import { world } from "./harness.ts";

/** A model that calls `note` once with this text for arguments, beside a call that is well. What ran, what the model received, and how it ended. */
async function called(argsText: string, { name = "note", stopReason }: { readonly name?: string; readonly stopReason?: "length" } = {}) {
  const ran: unknown[] = [];
  const note = defineTool({
    name: "note",
    description: "Notes.",
    parameters: { type: "object" },
    execute: (args: JsonObject) => {
      ran.push(args);
      return "noted";
    },
  }) as Tool;
  const well = defineTool({ name: "well", description: "Is well.", parameters: { type: "object" }, execute: () => "fine" });
  const first = { chunkSize: 64 * 1024, calls: [{ name: "well" }, { name, argsText }], ...(stopReason ? { stopReason } : {}) };
  const { session, provider } = world([first, { text: "I go on." }], { tools: [note, well] });
  const { status, text } = await execute(session, "go").result();
  const published = (provider.requests[1]?.messages ?? []).filter((message) => message.role === "tool_result");
  return { ran, published, status, text };
}

const deep = 10_000;
const bad: readonly (readonly [string, string, string])[] = [
  ["an escape that JSON does not have", '{"path": "C:\\Home"}', "not valid JSON"],
  ["half of what they should be", '{"path": "/tmp/a', "not valid JSON"],
  ["two objects glued together", '{"a":1}{"b":2}', "not valid JSON"],
  ["an array", '["a"]', "not a JSON object"],
  ["a number", "42", "not a JSON object"],
  ["a string", '"{}"', "not a JSON object"],
  ["null", "null", "not a JSON object"],
  ["five million characters that never end", `{"a":"${"x".repeat(5_000_000)}`, "not valid JSON"],
  ["an object ten thousand levels deep", `${'{"a":'.repeat(deep)}1${"}".repeat(deep)}`, "nested too deeply"],
  ["a list ten thousand levels deep", `{"a":${"[".repeat(deep)}${"]".repeat(deep)}}`, "nested too deeply"],
  ["the key __proto__", '{"__proto__":{"isAdmin":true}}', "forbidden key"],
  ["the key constructor below", '{"a":[{"constructor":{"prototype":{}}}]}', "forbidden key"],
  ["a number beyond every number", '{"a":1e999}', "not valid JSON"],
  ["a NUL in a key without an escape", '{"a\u0000":1}', "not valid JSON"],
  ["words around an object", 'Sure! {"a":1}', "not valid JSON"],
  ["Python", "{'a': True}", "not valid JSON"],
];

describe("F6: a call whose arguments are", () => {
  it.each(bad)("%s is not run, the model reads why, and the run continues", async (_, argsText, why) => {
    const { ran, published, status, text } = await called(argsText);
    expect(ran).toEqual([]);
    expect(published.map(({ outcome }) => outcome)).toEqual(["ok", "error"]);
    expect(JSON.stringify(published[1]?.content)).toContain(why);
    expect([status, text]).toEqual(["completed", "I go on."]);
  });

  it("five million characters is run with them", async () => {
    const { ran, status } = await called(`{"a":"${"x".repeat(5_000_000)}"}`);
    expect((ran as { a: string }[]).map(({ a }) => a.length)).toEqual([5_000_000]);
    expect(status).toBe("completed");
  });

  it("an object with a key that stands twice is run with the last one, as every parser reads it, and never with none", async () => {
    const { ran } = await called('{"a":1,"a":2}');
    expect(ran).toEqual([{ a: 2 }]);
  });

  it("blank is run only where the tool needs none", async () => {
    expect((await called("")).ran).toEqual([{}]);
    let ran = 0;
    const needs = defineTool({
      name: "needs",
      description: "Needs a.",
      parameters: z.object({ a: z.string() }),
      execute: () => `${++ran}`,
    });
    const { session, provider } = world([{ calls: [{ name: "needs", argsText: "" }] }, { text: "ok" }], { tools: [needs] });
    expect((await execute(session, "go").result()).text).toBe("ok");
    expect([ran, JSON.stringify(provider.requests[1]?.messages)]).toEqual([0, expect.stringContaining("`a`")]);
  });

  it("cut off by the length limit is not run, and its result names the reason", async () => {
    const { ran, published } = await called('{"a": "b', { stopReason: "length" });
    expect([ran, JSON.stringify(published[1]?.content)]).toEqual([[], expect.stringContaining("length limit")]);
  });

  it("for a tool that does not exist is answered by an error", async () => {
    const { ran, published, text } = await called("{}", { name: "__proto__" });
    expect([ran, published[1]?.outcome, text]).toEqual([[], "error", "I go on."]);
  });
});

describe("F6: chunks of calls", () => {
  const run = async (chunks: readonly ModelChunk[]) => {
    const ran: unknown[] = [];
    const note = defineTool({
      name: "note",
      description: "Notes.",
      parameters: { type: "object" },
      execute: (args: JsonObject, { callId }) => {
        ran.push([callId, args]);
        return "noted";
      },
    }) as Tool;
    const { session, provider } = world([{ chunks: [chunks], stopReason: "tool_calls" }, { text: "ok" }], { tools: [note] });
    const { status } = await execute(session, "go").result();
    const results = provider.requests[1]?.messages.flatMap((message) => (message.role === "tool_result" ? [message.toolCallId] : []));
    return { ran, status, results };
  };
  const call = (index: number, id: string, args: string): readonly ModelChunk[] => [
    { type: "call-start", index, id, name: "note" },
    { type: "call-args", index, delta: args },
    { type: "call-end", index },
  ];

  it("whose index jumps are calls in the order of their indices, each with its own arguments", async () => {
    const { ran } = await run([...call(7, "b", '{"n":7}'), ...call(2, "a", '{"n":2}'), ...call(40, "c", '{"n":40}')]);
    expect(ran).toEqual([
      ["a", { n: 2 }],
      ["b", { n: 7 }],
      ["c", { n: 40 }],
    ]);
  });

  it("with an empty id, or the same one twice, are calls of their own with results of their own", async () => {
    const { ran, results } = await run([...call(0, "", '{"n":0}'), ...call(1, "x", '{"n":1}'), ...call(2, "x", '{"n":2}')]);
    expect(ran.map((each) => (each as [string, unknown])[1])).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }]);
    expect(new Set(results).size).toBe(3);
  });

  it("that begin the same call twice are one call", async () => {
    const start: ModelChunk = { type: "call-start", index: 0, id: "a", name: "note" };
    const { ran } = await run([
      start,
      { type: "call-args", index: 0, delta: '{"n":' },
      start,
      { type: "call-args", index: 0, delta: "1}" },
    ]);
    expect(ran).toEqual([["a", { n: 1 }]]);
  });

  it("that belong to no call are ignored", async () => {
    const { ran, status } = await run([
      { type: "call-args", index: 3, delta: '{"n":1}' },
      { type: "call-end", index: 9 },
      ...call(0, "a", "{}"),
    ]);
    expect([ran, status]).toEqual([[["a", {}]], "completed"]);
  });
});

describe("F6: arguments broken by chance", () => {
  const whole = JSON.stringify({ path: "a/\u{1f600}/\\b", flags: [1, -2.5e3, null, true], nested: { deep: { text: 'quo"ted' } } });
  const pieces = [
    "{",
    "}",
    "[",
    "]",
    '"',
    "\\",
    "\\H",
    "\\ud83d",
    ",",
    ":",
    "e",
    "-",
    "0",
    "null",
    "\u0000",
    "\n",
    "{}",
    "\u{1f600}",
    "\ufeff",
  ];

  it("are the value that JSON.parse gives, or are reported as a problem, and are never an empty object instead (20,000 texts of one seed)", () => {
    const random = seededRandom(20_261_121);
    const below = (most: number): number => Math.floor(random() * most);
    let problems = 0;
    for (let round = 0; round < 20_000; round++) {
      let text = whole;
      for (let change = 1 + below(3); change > 0; change--) {
        const at = below(text.length + 1);
        const piece = pieces[below(pieces.length)] ?? "";
        text = random() < 0.3 ? text.slice(0, at) : `${text.slice(0, at)}${piece}${text.slice(at + below(4))}`;
      }
      if (text.trim() === "") continue;
      const parsed = parseArguments(text);
      if (typeof parsed === "string") problems++;
      else expect(parsed).toEqual(JSON.parse(text));
    }
    expect(problems).toBeGreaterThan(10_000);
  });
});
