import { spawn } from "node:child_process";
import { describe, expect, it } from "vitest";

/** What a process with a heap of 128 MB states. `produce` is the source of a tool's `execute`. */
async function inSmallProcess(produce: string, repetitions = 1): Promise<string> {
  const index = new URL("../src/index.ts", import.meta.url).href;
  const script = `
    import { createAgent, createSession, defineTool, execute } from ${JSON.stringify(index)};
    let call = 0;
    const end = { type: "end", stopReason: "stop" };
    const provider = { name: "p", defaultModel: "m", capabilities: () => ({ streaming: true, tools: true, vision: false, promptCaching: false }),
      async *stream(request) {
        if (call++ < ${repetitions}) yield [{ type: "call-start", index: 0, id: "c" + call, name: "t" }, { type: "call-end", index: 0 }, { ...end, stopReason: "tool_calls" }];
        else yield [{ type: "text", index: 0, delta: "read " + JSON.stringify(request.messages.at(-1).content).length }, end];
      } };
    const tool = defineTool({ name: "t", description: "T.", parameters: { type: "object" }, execute: ${produce} });
    const session = createSession({ agent: createAgent({ name: "a", provider, tools: [tool], limits: { turnsMax: 1_000 } }) });
    console.log((await execute(session, "go").result()).text);
  `;
  const args = ["--max-old-space-size=128", "--conditions=@loopwright/source", "--no-warnings", "--input-type=module", "-e", script];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  let written = "";
  child.stdout.on("data", (bytes) => (written += String(bytes)));
  child.stderr.on("data", (bytes) => (written += String(bytes).slice(0, 2_000)));
  const exit = await new Promise((resolve) => child.once("close", resolve));
  return exit === 0 ? written.trim() : `exit ${exit}: ${written.slice(0, 500)}`;
}

describe("a process with a heap of 128 MB", () => {
  it.each<[string, string]>([
    ["a text of 100 MB", '() => Buffer.alloc(1e8, "x").toString("latin1")'],
    ["a text of 80 MB with an emoji in it", '() => ("x".repeat(99) + "\\u{1f600}").repeat(4e5)'],
    ["a text of 100 MB that was put together", '() => "word ".repeat(2e7)'],
    ["JSON with a text of 100 MB", '() => ({ rows: [Buffer.alloc(1e8, "x").toString("latin1")] })'],
    [
      "a completion with details of 100 MB",
      '() => ({ type: "complete", output: "x".repeat(2e5), details: { all: Buffer.alloc(1e8, "x").toString("latin1") } })',
    ],
    ["one delta of 60 MB", 'async function* () { yield Buffer.alloc(6e7, "x").toString("latin1"); }'],
  ])("survives a tool that gives %s", async (_, produce) => {
    expect(await inSmallProcess(produce)).toMatch(/^read 100\d\d\d$/);
  });

  it("keeps of a hundred results of 8 MB no more than is shown", async () => {
    expect(await inSmallProcess('() => "é".repeat(8e6)', 100)).toMatch(/^read 100\d\d\d$/);
  });
});
