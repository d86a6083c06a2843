import type { Clock, ModelRequest } from "@loopwright/core/ports";
import { describe, expect, it } from "vitest";
import { answered, asking, collect, toolOf } from "../test/collect.ts";
import { offline } from "./offline.ts";
import { label } from "./offline-texts.ts";

const model = offline({ pace: 0 });
const time = toolOf("current_time", { timeZone: { type: "string" } });
const calculator = toolOf("calculator", { expression: { type: "string" } });
const files = [
  toolOf("file_create", { path: { type: "string" }, content: { type: "string" } }),
  toolOf("file_read", { path: { type: "string" } }),
  toolOf("file_list"),
];
const askUser = toolOf("confirm", { question: { type: "string" } }, "Asks in the browser.");
const tools = [time, calculator, ...files, askUser];
const ask = (text: string, more: Partial<ModelRequest> = {}) => collect(model, asking(text, more));

describe("offline", () => {
  it.each(["help", "hello", "?", "what can you do?"])("lists for %j what it can show, with the tools offered", async (text) => {
    const { text: answer } = await ask(text, { tools });
    for (const word of ["`long answer`", "`error`", "`client tool`", "`calculator`", "offline demo model"]) expect(answer).toContain(word);
  });

  it.each(["help", "long answer", "cut it", "What do you make of Tolstoy?"])("labels its answer to %j as a demo", async (text) => {
    const { text: answer, end } = await ask(text);
    expect(answer.endsWith(label)).toBe(true);
    expect(end).toMatchObject({ stopReason: "stop", model: "m" });
  });

  it("answers the same request with the same chunks", async () => {
    const first = await ask("think about tea", { tools });
    expect((await ask("think about tea", { tools })).batches).toEqual(first.batches);
    expect(first.parts.map((part) => part.type)).toEqual(["thinking", "text"]);
  });

  it.each<[string, unknown]>([
    ["What time is it?", [{ name: "current_time", args: { timeZone: "UTC" } }]],
    ["What time is it in Tokyo?", [{ name: "current_time", args: { timeZone: "Asia/Tokyo" } }]],
    ["How much is 6 * 7?", [{ name: "calculator", args: { expression: "6 * 7" } }]],
    ["(2 + 3) × 4", [{ name: "calculator", args: { expression: "(2 + 3) * 4" } }]],
    ["list the files", [{ name: "file_list", args: {} }]],
    ["read notes.md", [{ name: "file_read", args: { path: "notes.md" } }]],
    ['use file_create to write "buy milk" to todo.txt', [{ name: "file_create", args: { path: "todo.txt", content: "buy milk" } }]],
    ["show me a client tool", [{ name: "confirm", args: { question: "show me a client tool" } }]],
    ["use file_read, please", [{ name: "file_read", args: { path: "offline-demo.md" } }]],
    [
      "what is 6 * 7 and what time is it?",
      [
        { name: "calculator", args: { expression: "6 * 7" } },
        { name: "current_time", args: { timeZone: "UTC" } },
      ],
    ],
  ])("answers %j by calls with sensible arguments", async (text, calls) => {
    const collected = await ask(text, { tools });
    expect(collected.calls).toEqual(calls);
    expect(collected.end?.stopReason).toBe("tool_calls");
  });

  it.each(['write "buy milk" to todo.txt', "write a file please", "What does file_create do?", "show several tools", "show a tool"])(
    "changes nothing for %j: a tool that writes is called only when the message asks for it",
    async (text) => {
      const { calls } = await ask(text, { tools: [...files].sort((a, b) => a.name.localeCompare(b.name)) });
      expect(calls.map(({ name }) => name)).not.toContain("file_create");
    },
  );

  it("takes a tool that writes where a tool is required and there is no other", async () => {
    const calls = async (offered: typeof tools) => (await ask("hello", { tools: offered, toolChoice: "required" })).calls;
    expect((await calls(files)).map(({ name }) => name)).toEqual(["file_read"]);
    expect((await calls(files.slice(0, 1))).map(({ name }) => name)).toEqual(["file_create"]);
  });

  it("uses several tools at once when several are asked for", async () => {
    expect((await ask("show several tools", { tools })).calls).toHaveLength(3);
  });

  it("makes one call at a time when the message has 'then', or parallel calls are switched off", async () => {
    const text = "what time is it, then 6 * 7";
    expect((await ask(text, { tools })).calls.map(({ name }) => name)).toEqual(["current_time"]);
    const after = answered(text, [{ name: "current_time", output: "12:00" }]);
    const second = await ask("", { tools, messages: after });
    expect(second.calls.map(({ name }) => name)).toEqual(["calculator"]);
    expect(second.text).toContain("12:00");
    const one = await ask("6 * 7 and the time", { tools, parallelToolCalls: false });
    expect(one.calls).toHaveLength(1);
  });

  it("answers from the results of its tools, failures included", async () => {
    const messages = answered("time and 6 * 7", [
      { name: "current_time", output: "12:00" },
      { name: "calculator", output: "no such thing", isError: true },
    ]);
    const { text, calls } = await ask("", { tools, messages });
    expect(calls).toEqual([]);
    expect(text).toContain("The tool `current_time` says: 12:00");
    expect(text).toContain("The tool `calculator` gave no result: no such thing");
  });

  it("obeys the tool choice", async () => {
    expect((await ask("what time is it?", { tools, toolChoice: "none" })).calls).toEqual([]);
    expect((await ask("hello", { tools, toolChoice: { tool: "file_list" } })).calls).toEqual([{ name: "file_list", args: {} }]);
    expect((await ask("hello", { tools, toolChoice: "required" })).calls).toHaveLength(1);
  });

  it("reports it when no fitting tool was offered", async () => {
    expect((await ask("use a tool")).text).toContain("No fitting tool was offered");
  });

  it("answers as JSON of the schema that was asked for", async () => {
    const schema = {
      type: "object",
      properties: {
        city: { type: "string" },
        days: { type: "integer", maximum: 5 },
        unit: { enum: ["C", "F"] },
        extra: { type: "string" },
      },
      required: ["city", "days", "unit"],
    };
    const { text } = await ask("The weather in Oslo for 9 days", { output: { name: "weather", schema } });
    expect(JSON.parse(text)).toEqual({ city: "Oslo", days: 5, unit: "C" });
  });

  it("shows a failure that stays, one that passes, a refusal and a cut", async () => {
    expect((await ask("show an error")).error).toMatchObject({ code: "MODEL_BAD_REQUEST", retryable: false });
    expect((await ask("retry")).error).toMatchObject({ code: "MODEL_OVERLOADED", retryable: true });
    expect((await collect(model, asking("retry"), { attempt: 2 })).text).toContain("Attempt 2 worked");
    expect((await ask("refuse")).end).toMatchObject({ stopReason: "error", message: expect.stringContaining("declined") });
    expect((await ask("cut off")).end).toMatchObject({ stopReason: "length" });
    expect((await ask("Which error did the log of yesterday evening show?")).error).toBeUndefined();
  });

  it("reports its usage as estimated", async () => {
    const { chunks } = await ask("hello");
    const usage = chunks.find((chunk) => chunk.type === "usage")?.usage;
    expect(usage).toMatchObject({ source: "estimated" });
    expect(usage?.input).toBeGreaterThan(0);
    expect(usage?.total).toBe((usage?.input ?? 0) + (usage?.output ?? 0));
  });

  it("counts an image as one, however many bytes it has", async () => {
    const inputOf = async (bytes: number): Promise<number> => {
      const image = { type: "image", mediaType: "image/png", source: { data: "A".repeat(bytes) } } as const;
      const { chunks } = await collect(model, { ...asking("hello"), messages: [{ role: "user", content: [image] }] });
      return chunks.find((chunk) => chunk.type === "usage")?.usage.input ?? 0;
    };
    expect(await inputOf(400_000)).toBe(await inputOf(4));
    expect(await inputOf(4)).toBeGreaterThan(900);
  });

  it("yields one batch when no stream is wanted", async () => {
    const streamed = await ask("long answer");
    const whole = await ask("long answer", { stream: false });
    expect(whole.batches).toHaveLength(2);
    expect(whole.text).toBe(streamed.text);
    expect(streamed.batches.length).toBeGreaterThan(300);
  });

  it("waits one pace of its clock before each word", async () => {
    const waits: number[] = [];
    const clock: Clock = {
      now: () => 0,
      monotonic: () => 0,
      soon: (run) => void Promise.resolve().then(run),
      after(ms, run) {
        waits.push(ms);
        queueMicrotask(run);
        return () => {};
      },
    };
    const { batches } = await collect(offline({ clock, pace: 25 }), asking("tea?"));
    expect(waits[0]).toBe(200);
    expect(new Set(waits.slice(1))).toEqual(new Set([25]));
    expect(waits).toHaveLength(batches.length - 1);
  });

  it("stops at once when it is aborted in a pause, and leaves no timer behind", async () => {
    let timers = 0;
    const clock: Clock = {
      now: () => 0,
      monotonic: () => 0,
      soon: (run) => void Promise.resolve().then(run),
      after() {
        timers += 1;
        return () => {
          timers -= 1;
        };
      },
    };
    const controller = new AbortController();
    const collected = collect(offline({ clock }), asking("long answer"), { signal: controller.signal });
    await Promise.resolve();
    expect(timers).toBe(1);
    controller.abort("stop");
    const { error, chunks } = await collected;
    expect(error).toBe("stop");
    expect(chunks).toEqual([]);
    expect(timers).toBe(0);
  });
});
