import type { AgentEvent } from "@loopwright/core";
import { expect, test } from "vitest";
import { foldScreen } from "../src/screen/fold-screen.ts";
import { emptyScreen } from "../src/screen/screen.ts";
import { createScreenWriter } from "../src/screen/screen-writer.ts";
import { createLiveRegion, type LiveRegion, type TerminalOutput } from "../src/terminal/live-region.ts";
import { createStyle } from "../src/terminal/style.ts";
import { durable, ephemeral, toolRun } from "./events.ts";
import { VirtualTerminal } from "./virtual-terminal.ts";

const paragraph = "Words that fill a paragraph and make it wrap more than once on a narrow terminal, with **bold** and `code`. ";
const answer = `# Heading\n\n${paragraph.repeat(3)}\n\n${Array.from({ length: 40 }, (_, at) => `- item ${at} with some words behind it`).join("\n")}\n\n| a | b |\n|--|--|\n${"| cell | another cell |\n".repeat(12)}\n\`\`\`ts\n${"const line = 1;\n".repeat(60)}\`\`\`\n\n${paragraph.repeat(30)}\n\nThe end.`;

/** A tool run, then a long answer in small pieces. */
function longRun(): readonly AgentEvent[] {
  const pieces = answer.match(/[\s\S]{1,37}/g) ?? [];
  return [
    ...toolRun,
    durable(20, "message_start", { messageId: "20", role: "assistant" }),
    ...pieces.map((delta) => ephemeral(20, "text_delta", { index: 0, delta })),
    durable(21, "message_end", {
      messageId: "21",
      message: { role: "assistant", content: [{ type: "text", text: answer }], stopReason: "stop" },
    }),
    durable(22, "run_end", { status: "completed", reason: "answer" }),
  ];
}

interface Watched {
  /** Every finished line in the order in which it was given out. */
  readonly finished: readonly string[];
  readonly shown: readonly string[];
  /** Lines above the live ones that a later frame changed. */
  readonly rewritten: readonly string[];
  readonly largestFrame: number;
}

/** Plays the run frame by frame and looks after each at everything above the live lines. */
async function watch(make: (output: TerminalOutput) => LiveRegion, columns: number, rows: number): Promise<Watched> {
  const terminal = new VirtualTerminal(columns, rows);
  const region = make(terminal);
  const writer = createScreenWriter();
  const finished: string[] = [];
  const rewritten: string[] = [];
  let screen = emptyScreen;
  let before: readonly string[] = [];
  for (const [at, event] of longRun().entries()) {
    screen = foldScreen(screen, event, at);
    const frame = { width: columns - 1, style: createStyle(false) };
    const lines = writer.write(screen, { frame, liveMax: rows - 4, showThinking: false, hasKeys: true, showTools: false, now: at });
    finished.push(...lines.finished);
    const live = [...lines.live, "", "> typing", `frame ${at}`];
    region.draw({ finished: lines.finished, live, cursor: { row: live.length - 2, column: 8 } });
    const now = (await terminal.lines()).slice(0, finished.length);
    rewritten.push(...before.filter((line, row) => now[row] !== line));
    before = now;
  }
  return { finished, shown: before, rewritten, largestFrame: Math.max(...terminal.written.map((text) => text.length)) };
}

test.each([
  [80, 24],
  [40, 10],
  [120, 50],
])("on %i x %i no finished line is ever rewritten while an answer streams", async (columns, rows) => {
  const seen = await watch(createLiveRegion, columns, rows);
  expect(seen.rewritten).toEqual([]);
  expect(seen.shown).toEqual(seen.finished);
  expect(seen.finished.join("\n")).toContain("The end.");
  expect(seen.finished.filter((line) => line.trim() === "const line = 1;")).toHaveLength(60);
  // One screen and what fits a few finished lines, not the answer.
  expect(seen.largestFrame).toBeLessThan(4 * columns * rows);
});

test("the watch notices a region that moves one row too far", async () => {
  const sabotaged = (output: TerminalOutput): LiveRegion => {
    const target: TerminalOutput = {
      get columns() {
        return output.columns ?? 80;
      },
      write: (text) => output.write(text.replace("\u001b[?2026h\r", "\u001b[?2026h\r\u001b[1A")),
    };
    return createLiveRegion(target);
  };
  const seen = await watch(sabotaged, 80, 24);
  expect(seen.rewritten.length).toBeGreaterThan(0);
});
