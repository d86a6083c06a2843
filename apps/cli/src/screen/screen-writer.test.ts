import { describe, expect, test } from "vitest";
import { durable, ephemeral, toolRun } from "../../test/events.ts";
import { createStyle } from "../terminal/style.ts";
import { foldScreen } from "./fold-screen.ts";
import { type FooterState, footerLines } from "./footer-lines.ts";
import { emptyScreen, type Screen, type ToolBlock } from "./screen.ts";
import { createScreenWriter, type View } from "./screen-writer.ts";
import { toolLines } from "./tool-lines.ts";

const frame = { width: 60, style: createStyle(false) };
const view: View = { frame, liveMax: 20, showThinking: false, hasKeys: true, showTools: false, now: 10_000 };

test("a finished run reads like a conversation", () => {
  const screen = toolRun.reduce((current, event) => foldScreen(current, event, 1_000), emptyScreen);
  expect(createScreenWriter().write(screen, view)).toEqual({
    finished: [
      "> what time is it?",
      "",
      "∴ Thought · Ctrl+T shows the next one",
      "",
      "I call it.",
      "",
      '● get_time {"zone":"UTC"}',
      "  └ 12:00 · 12 ms",
      "",
      "It is noon.",
    ],
    live: [],
  });
});

test("the lines of a run are the same whether it is drawn after every event or once", () => {
  const writer = createScreenWriter();
  let screen = emptyScreen;
  const lines = toolRun.flatMap((event) => {
    screen = foldScreen(screen, event, 1_000);
    return writer.write(screen, view).finished;
  });
  expect(lines).toEqual(createScreenWriter().write(screen, view).finished);
});

test("thinking is shown in full when asked for", () => {
  const screen = toolRun.reduce((current, event) => foldScreen(current, event, 1_000), emptyScreen);
  expect(createScreenWriter().write(screen, { ...view, showThinking: true }).finished).toContain("  I look.");
});

test("a block waits until all before it are done", () => {
  const start = [
    durable(1, "tool_execution_start", { toolCallId: "a", callKey: "a", toolName: "slow", attempt: 1, args: {} }),
    durable(2, "tool_execution_start", { toolCallId: "b", callKey: "b", toolName: "fast", attempt: 1, args: {} }),
    durable(3, "tool_execution_end", {
      toolCallId: "b",
      callKey: "b",
      toolName: "fast",
      outcome: "ok",
      output: [{ type: "text", text: "done" }],
    }),
  ].reduce((current, event) => foldScreen(current, event, 10_000), emptyScreen);
  const writer = createScreenWriter();
  expect(writer.write(start, view)).toEqual({ finished: [], live: ["○ slow", "  └ runs…", "● fast", "  └ done · 0 ms"] });
  const end = foldScreen(
    start,
    durable(4, "tool_execution_end", {
      toolCallId: "a",
      callKey: "a",
      toolName: "slow",
      outcome: "error",
      output: [{ type: "text", text: "broke" }],
    }),
    12_000,
  );
  expect(writer.write(end, view).finished).toEqual(["✗ slow", "  └ error: broke · 2.0 s", "● fast", "  └ done · 0 ms"]);
});

describe("a tool", () => {
  const tool: ToolBlock = {
    kind: "tool",
    id: "k",
    name: "read",
    label: "read",
    phase: "ended",
    args: JSON.stringify({ path: "x".repeat(100) }),
    output: Array.from({ length: 100 }, (_, at) => `line ${at}`).join("\n"),
    outcome: "ok",
    since: 0,
    durationMs: 65_000,
    isDone: true,
  };

  test("takes two short lines", () => {
    const lines = toolLines(tool, frame, { detail: false, now: 0 });
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatch(/^ {2}└ line 0 line 1 .*… · 1 min 5 s$/);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(60);
  });

  test("shows arguments and output in detail, up to a limit", () => {
    const lines = toolLines(tool, frame, { detail: true, now: 0 });
    expect(lines.join("\n")).toContain("  │ … 60 more lines");
    expect(lines.at(-1)).toBe("  │ 1 min 5 s");
  });

  test("that runs shows its step and its time", () => {
    const { outcome: _, durationMs: __, ...rest } = tool;
    const running: ToolBlock = { ...rest, phase: "running", output: "", step: "page 3 of 7", isDone: false };
    expect(toolLines(running, frame, { detail: false, now: 3_400 })[1]).toBe("  └ page 3 of 7 · 3.0 s");
  });
});

describe("the footer", () => {
  const state: FooterState = { provider: "p", model: "m", contextMax: 1_000, now: 5_000, since: 0, hint: undefined };
  const lines = (screen: Partial<Screen>, more: Partial<FooterState> = {}): readonly string[] =>
    footerLines({ ...emptyScreen, ...screen }, { ...state, ...more }, { ...frame, width: 100 });

  test("shows tokens, cache, cost and context", () => {
    const usage = { input: 1_000, cacheRead: 3_000, output: 250 };
    expect(lines({ usage, cost: { totalUsd: 0.0123, partial: true }, contextTokens: 420 })[1]).toBe(
      "p m · 4.0k in · 250 out · 75 % cached · $0.0123+ · context 42 %",
    );
  });

  test("leaves out what is unknown", () => {
    expect(lines({}, { contextMax: undefined })[1]).toBe("p m");
    expect(lines({ contextTokens: 420 }, { contextMax: undefined })[1]).toBe("p m · context 420");
  });

  test("shows what happens and which keys matter", () => {
    expect(lines({})[0]).toContain("Enter sends");
    expect(lines({ activity: "writing" })[0]).toMatch(/answers 5\.0 s · Esc stops · Enter steers$/);
    expect(lines({ activity: "retrying", retryAt: 7_500 })[0]).toContain("tries again in 2.5 s");
    expect(lines({ activity: "asking" })[0]).toContain("waits for your answer");
  });

  test("is two lines that fit, however narrow the terminal is", () => {
    const narrow = footerLines({ ...emptyScreen, activity: "writing" }, { ...state, model: "x".repeat(200) }, { ...frame, width: 20 });
    expect(narrow).toHaveLength(2);
    for (const line of narrow) expect(line.length).toBeLessThanOrEqual(20);
  });
});

test("text in the middle of being written is live, and its finished part is not", () => {
  const screen = [
    durable(1, "message_start", { messageId: "1", role: "assistant" }),
    ephemeral(1, "text_delta", { index: 0, delta: "first\n\nsecond" }),
  ].reduce((current, event) => foldScreen(current, event, 0), emptyScreen);
  expect(createScreenWriter().write(screen, view)).toEqual({ finished: ["first"], live: ["", "second"] });
});
