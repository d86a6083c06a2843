import type { Frame } from "../markdown/frame.ts";
import { createMarkdownStream, type MarkdownStream, type StreamLines } from "../markdown/markdown-stream.ts";
import { wrapLines } from "../terminal/lines.ts";
import { durationText } from "./durations.ts";
import type { Block, Screen } from "./screen.ts";
import { toolLines } from "./tool-lines.ts";

/** How the blocks are drawn now. */
export interface View {
  readonly frame: Frame;
  /** Lines that the blocks under way may take. */
  readonly liveMax: number;
  readonly showThinking: boolean;
  /** Whether a person can press keys here. */
  readonly hasKeys: boolean;
  readonly showTools: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Turns a growing screen into lines. Owns: how much of it was given out. Invariants: I1 finished lines are given out once and in
 * order; I2 a block is finished only when all before it are; I3 the work of one call does not depend on finished blocks.
 */
export interface ScreenWriter {
  write(screen: Screen, view: View): StreamLines;
}

class IncrementalWriter implements ScreenWriter {
  private next = 0;
  private last: Block | undefined;
  private markdown: MarkdownStream | undefined;
  /** Characters of the open text block that the Markdown reader has. */
  private fed = 0;

  write(screen: Screen, view: View): StreamLines {
    const finished: string[] = [];
    for (let block = screen.blocks[this.next]; block?.isDone; block = screen.blocks[this.next]) {
      finished.push(...this.finish(block, view));
      this.next += 1;
      this.last = block;
    }
    const live: string[] = [];
    let before = this.last;
    for (const [place, block] of screen.blocks.slice(this.next).entries()) {
      const gap = this.markdown && place === 0 ? [] : gapBefore(before, block);
      if (place === 0 && block.kind === "text") {
        const lines = this.feed(block, view);
        finished.push(...gap, ...lines.finished);
        live.push(...lines.live);
      } else live.push(...gap, ...wholeLines(block, view));
      before = block;
    }
    return { finished, live: live.slice(-Math.max(1, view.liveMax)) };
  }

  private feed(block: Extract<Block, { kind: "text" }>, view: View): StreamLines {
    this.markdown ??= createMarkdownStream();
    this.markdown.push(block.text.slice(this.fed));
    this.fed = block.text.length;
    return this.markdown.take(view.frame, view.liveMax);
  }

  private finish(block: Block, view: View): readonly string[] {
    if (block.kind !== "text" || !this.markdown) return [...gapBefore(this.last, block), ...wholeLines(block, view)];
    const taken = this.feed(block, view).finished;
    const rest = this.markdown.end(view.frame);
    this.markdown = undefined;
    this.fed = 0;
    return [...taken, ...rest];
  }
}

/** A writer that has given nothing out yet. */
export function createScreenWriter(): ScreenWriter {
  return new IncrementalWriter();
}

function gapBefore(before: Block | undefined, block: Block): readonly string[] {
  if (!before || (before.kind === "tool" && block.kind === "tool")) return [];
  const areShort = before.kind === "notice" && block.kind === "notice" && before.lines.length + block.lines.length === 2;
  return areShort ? [] : [""];
}

function wholeLines(block: Block, view: View): readonly string[] {
  const { frame, now } = view;
  const { style, width } = frame;
  switch (block.kind) {
    case "user":
      return block.text.split("\n").flatMap((line) => wrapLines(line, width - 2).map((piece) => style.cyan("> ") + piece));
    case "text": {
      const markdown = createMarkdownStream();
      markdown.push(block.text);
      return markdown.end(frame);
    }
    case "thinking":
      return thinkingLines(block, view);
    case "tool":
      return toolLines(block, frame, { detail: view.showTools, now });
    case "notice": {
      const paint = { quiet: style.dim, warning: style.yellow, error: style.red }[block.tone];
      const sign = block.tone === "quiet" ? "  " : "! ";
      return block.lines.flatMap((line) => wrapLines(line, width - 2)).map((piece, at) => paint(`${at === 0 ? sign : "  "}${piece}`));
    }
    default:
      return block satisfies never;
  }
}

function thinkingLines(block: Extract<Block, { kind: "thinking" }>, { frame, showThinking, hasKeys, now }: View): readonly string[] {
  const { style, width } = frame;
  const seconds = block.isDone ? block.durationMs : Math.floor((now - block.since) / 1_000) * 1_000;
  const time = seconds === undefined || seconds === 0 ? "" : ` for ${durationText(seconds)}`;
  const head = style.dim(
    `∴ ${block.isDone ? "Thought" : "Thinking"}${time}${showThinking || !hasKeys ? "" : " · Ctrl+T shows the next one"}`,
  );
  if (!showThinking) return [head];
  const text = block.text
    .trim()
    .split("\n")
    .flatMap((line) => wrapLines(line, width - 2));
  return [head, ...text.map((line) => (line === "" ? "" : style.dim(`  ${line}`)))];
}
