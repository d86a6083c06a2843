import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, createSession, type ExecuteResult, execute, type ModelChunk } from "@loopwright/core";
import type { ModelRequest } from "@loopwright/core/ports";
import { describe, expect, test } from "vitest";
import { readSubprocess, type SubprocessOptions, subprocess } from "../src/index.ts";

const request: ModelRequest = { model: "m", messages: [{ role: "user", content: "the secret plan of the kit" }] };

/** A program that is this script, with what it wrote and how it ended. */
async function run(
  script: string,
  options: Partial<SubprocessOptions> = {},
  asked = request,
): Promise<{ readonly chunks: readonly ModelChunk[]; readonly error?: unknown }> {
  const directory = await mkdtemp(join(tmpdir(), "loopwright-subprocess-"));
  const provider = subprocess({ path: process.execPath, args: ["--eval", script], directory, ...options });
  const chunks: ModelChunk[] = [];
  try {
    for await (const batch of provider.stream(asked, { signal: new AbortController().signal, attempt: 1 })) chunks.push(...batch);
  } catch (error) {
    return { chunks, error };
  }
  return { chunks };
}

const writing = (...lines: readonly object[]): string =>
  `process.stdout.write(${JSON.stringify(lines.map((line) => `${JSON.stringify(line)}\n`).join(""))});`;
const end = { type: "end" };

describe("a program", () => {
  test("gets one line with the whole request", async () => {
    const echo = `let text = ""; process.stdin.on("data", (part) => (text += part)).on("end", () => {
      process.stdout.write(JSON.stringify({ type: "text", delta: text }) + "\\n" + JSON.stringify({ type: "end" }) + "\\n"); });`;
    const tools = [{ name: "t", description: "A tool.", parameters: { type: "object" } }];
    const { chunks } = await run(
      echo,
      {},
      {
        model: "m",
        system: [{ text: "Be brief.", source: "agent", cache: "stable" }],
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "Look:" },
              { type: "json", value: { a: 1 } },
            ],
          },
          {
            role: "assistant",
            stopReason: "tool_calls",
            content: [
              { type: "text", text: "I look." },
              { type: "tool_call", callKey: "r.1.0", id: "c", name: "t", args: { b: 2 } },
            ],
          },
          { role: "tool_result", toolCallId: "c", content: "found", isError: true },
          { role: "notice", text: "A limit is near." },
        ],
        tools,
        toolChoice: "required",
        temperature: 0.5,
        vendorOptions: { own: true },
      },
    );
    const [sent] = chunks.flatMap((chunk) => (chunk.type === "text" ? [chunk.delta] : []));
    expect(JSON.parse(sent ?? "")).toEqual({
      version: 1,
      type: "request",
      model: "m",
      system: "Be brief.",
      messages: [
        { role: "user", content: 'Look:\n{"a":1}' },
        { role: "assistant", content: "I look.", calls: [{ id: "c", name: "t", arguments: { b: 2 } }] },
        { role: "tool", callId: "c", content: "found", isError: true },
        { role: "notice", content: "A limit is near." },
      ],
      tools,
      toolChoice: "required",
      temperature: 0.5,
      own: true,
    });
    expect(sent?.split("\n")).toHaveLength(2);
  });

  test("writes thinking, text and calls, each block with an index of its own, and whatever follows its end does not count", async () => {
    const { chunks, error } = await run(
      `${writing(
        { type: "alive" },
        { type: "thinking", delta: "Hm" },
        { type: "thinking", delta: "m." },
        { type: "text", delta: "I look." },
        { type: "call", id: "c", name: "t", arguments: { a: 1 } },
        { type: "text", delta: "Done." },
        { type: "usage", input: 3 },
        end,
        { type: "text", delta: "late" },
      )} setInterval(() => {}, 60_000);`,
    );
    expect(error).toBeUndefined();
    expect(chunks).toEqual([
      { type: "alive" },
      { type: "thinking", index: 0, delta: "Hm" },
      { type: "thinking", index: 0, delta: "m." },
      { type: "text", index: 1, delta: "I look." },
      { type: "call-start", index: 2, name: "t", id: "c" },
      { type: "call-args", index: 2, delta: '{"a":1}' },
      { type: "call-end", index: 2 },
      { type: "text", index: 3, delta: "Done." },
      { type: "usage", usage: { input: 3 } },
      { type: "end", stopReason: "tool_calls" },
    ]);
  });

  test("gets the variables of its list and no other", async () => {
    const environment = { ACME_TOKEN: "canary-acme-token", OTHER: "canary-other" };
    const shown = `process.stdout.write(JSON.stringify({ type: "text", delta: Object.keys(process.env).sort().join() + process.env.ACME_TOKEN }) + "\\n");`;
    const { chunks } = await run(`${shown}${writing(end)}`, { environment, variables: ["ACME_TOKEN"] });
    expect(chunks[0]).toEqual({ type: "text", index: 0, delta: "ACME_TOKEN,LANG,LOOPWRIGHT_CALL_MARK,PATHcanary-acme-token" });
  });

  test.each<[what: string, script: string, message: RegExp, options?: Partial<SubprocessOptions>]>([
    ["that ends without an end", writing({ type: "text", delta: "Half" }), /ended without a line of the type `end`\.$/],
    ["that writes no JSON", "console.log('Loading...');", /Line 1 that the program wrote is no JSON/],
    ["that writes a line of no type", writing({ type: "txt", delta: "a" }), /Line 1 that the program wrote has a wrong value at `type`/],
    ["that reports an error", writing({ type: "error", message: "The index is gone." }), /reported an error: The index is gone\./],
    ["that takes too long", "setInterval(() => {}, 60_000);", /did not end within 300 ms/, { limits: { durationMs: 300 } }],
    [
      "that writes too much",
      "const more = () => process.stdout.write('{}'.repeat(30_000), more); more();",
      /it wrote more than 100000 bytes/,
      { limits: { outputBytesMax: 100_000 } },
    ],
    [
      "that writes a line without an end",
      "process.stdout.write('x'.repeat(1_100_000)); setInterval(() => {}, 60_000);",
      /Line 1 that the program wrote has more than 1048576 characters/,
    ],
    ["that is not there", "", /cannot be started|exit code 127/, { path: "/nowhere/program" }],
    ["whose folder cannot be made", "", /cannot be started/, { directory: "/dev/null/folder" }],
  ])("%s fails as what it is, no vendor is blamed, and it is not asked again", async (_, script, message, options) => {
    const { chunks, error } = await run(script, options);
    expect(error).toMatchObject({ code: "EXECUTOR_FAILED", retryable: false, message: expect.stringMatching(message) });
    expect(chunks.some(({ type }) => type === "end")).toBe(false);
  });

  test("is asked again where it reports that this may help", async () => {
    const { error } = await run(writing({ type: "error", message: "Busy.", retryable: true }));
    expect(error).toMatchObject({ code: "EXECUTOR_FAILED", retryable: true });
  });

  test("C29: that crashes gives a failed run with the end of its standard error, without secrets and without the conversation", async () => {
    const directory = await mkdtemp(join(tmpdir(), "loopwright-subprocess-"));
    const script = `console.error("x".repeat(9000)); console.error("Traceback: asked for the secret plan of the kit with " + process.env.ACME_TOKEN); process.exit(9);`;
    const provider = subprocess({
      path: process.execPath,
      args: ["--eval", script],
      directory,
      environment: { ACME_TOKEN: "canary-acme-token" },
      variables: ["ACME_TOKEN"],
    });
    const session = createSession({ agent: createAgent({ name: "crashing", provider }) });
    const { status, error }: ExecuteResult = await execute(session, "the secret plan of the kit").result();
    expect(status).toBe("error");
    expect(error?.message).toMatch(
      /^The program subprocess ended with the exit code 9\. The end of its standard error:\nx+\nTraceback: asked for \[text of the conversation\] with \[variable ACME_TOKEN\]$/,
    );
    expect(error?.message.length).toBeLessThan(2_200);
  });

  test("refuses an image before it is started", async () => {
    const content = [{ type: "image", mediaType: "image/png", source: { data: "AA==" } }] as const;
    expect(await run(writing(end), {}, { model: "m", messages: [{ role: "user", content }] })).toMatchObject({
      chunks: [],
      error: { code: "MODEL_UNSUPPORTED" },
    });
  });
});

describe("the options of a program", () => {
  test.each([
    [{ path: "python3" }, "`path` of the program"],
    [{ directory: "here" }, "`directory` of the program"],
    [{ variables: ["LD_PRELOAD"] }, "LD_PRELOAD"],
    [{ limits: { durationMs: 0 } }, "`limits.durationMs` is 0"],
  ] satisfies readonly (readonly [Partial<SubprocessOptions>, string])[])("%j are refused when it is made", (options, message) => {
    expect(() => subprocess({ path: "/bin/true", directory: "/tmp", ...options })).toThrow(message);
  });

  test("are read from a file, with paths relative to its folder, and a wrong member is named", () => {
    expect(readSubprocess('{"path":"./run","args":["../a.py","b"],"variables":["A"]}', "/etc/agent/program.json")).toEqual({
      path: "/etc/agent/run",
      args: ["/etc/a.py", "b"],
      variables: ["A"],
    });
    expect(() => readSubprocess("{", "/p.json")).toThrow("The program in /p.json cannot be used: it is no JSON.");
    expect(() => readSubprocess('{"args":[]}', "/p.json")).toThrow("a wrong value at `path`");
    expect(() => readSubprocess('{"path":"a","arg":[]}', "/p.json")).toThrow("arg");
  });
});
