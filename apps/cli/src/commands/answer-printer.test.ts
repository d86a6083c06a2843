import { expect, test } from "vitest";
import { toolRun } from "../../test/events.ts";
import { VirtualTerminal } from "../../test/virtual-terminal.ts";
import { createAnswerPrinter } from "./answer-printer.ts";

/** How long something took depends on the machine. */
const timeless = (lines: readonly string[]): readonly string[] => lines.map((line) => line.replace(/^(∴ Thought) for .*$/, "$1"));

class Stream extends VirtualTerminal {
  readonly isTTY: boolean;
  constructor(isTTY: boolean) {
    super(80, 24);
    this.isTTY = isTTY;
  }
}

async function printed(options: { readonly stdout: Stream; readonly stderr: Stream; readonly quiet?: boolean }): Promise<void> {
  const { stdout, stderr, quiet = false } = options;
  const printer = createAnswerPrinter({ stdout, stderr, flags: { color: false, quiet } });
  for (const event of toolRun) printer.push(event);
  printer.end("It is noon.");
}

const tools = ["∴ Thought", "", '● get_time {"zone":"UTC"}', "  └ 12:00 · 12 ms"];

test("on a terminal everything stands in the order in which it happened", async () => {
  const terminal = new Stream(true);
  await printed({ stdout: terminal, stderr: terminal });
  expect(timeless(await terminal.lines())).toEqual([tools[0], "", "I call it.", "", tools[2], tools[3], "", "It is noon."]);
});

test("a terminal gets the text alone when the rest goes elsewhere", async () => {
  const [stdout, stderr] = [new Stream(true), new Stream(false)];
  await printed({ stdout, stderr });
  expect(timeless(await stdout.lines())).toEqual(["I call it.", "", "It is noon."]);
  expect(timeless(await stderr.lines())).toEqual(tools);
});

test("a pipe gets nothing but the answer, unchanged", async () => {
  const [stdout, stderr] = [new Stream(false), new Stream(true)];
  await printed({ stdout, stderr });
  expect(stdout.written.join("")).toBe("It is noon.\n");
  expect(timeless(await stderr.lines())).toEqual(tools);
});

test("what a hook changed stands on standard error, with its name, the point and the reason", async () => {
  const [stdout, stderr] = [new Stream(false), new Stream(false)];
  const printer = createAnswerPrinter({ stdout, stderr, flags: { color: false } });
  const verdict = { type: "verdict", hook: "wording", point: "decide", action: "replace", reason: "it was rude" } as const;
  printer.push({ ...verdict, seq: 2, k: 0, at: 0, sessionId: "s", runId: "r" });
  printer.end("Good day.");
  expect(stdout.written.join("")).toBe("Good day.\n");
  expect((await stderr.lines()).join("\n")).toContain("wording (decide): replace, it was rude");
});

test("quiet is quiet", async () => {
  const [stdout, stderr] = [new Stream(true), new Stream(true)];
  await printed({ stdout, stderr, quiet: true });
  expect(timeless(await stdout.lines())).toEqual(["I call it.", "", "It is noon."]);
  expect(stderr.written).toEqual([]);
});
