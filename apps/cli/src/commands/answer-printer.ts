import type { AgentEvent } from "@loopwright/core";
import { foldScreen } from "../screen/fold-screen.ts";
import type { Block } from "../screen/screen.ts";
import { emptyScreen, type Screen } from "../screen/screen.ts";
import { createScreenWriter, type View } from "../screen/screen-writer.ts";
import { createLiveRegion } from "../terminal/live-region.ts";
import { proseWidth, type SharedFlags, styleFor } from "./flags.ts";

/** Prints one answer as its events come. */
export interface AnswerPrinter {
  push(event: AgentEvent): void;
  /** The whole answer: printed now where standard output is no terminal. */
  end(text: string): void;
}

interface PrinterOptions {
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly flags: SharedFlags & { readonly quiet?: boolean };
}

const isText = (block: Block): boolean => block.kind === "text";
const framesPerSecond = 30;

/**
 * Text goes to standard output: on a terminal as Markdown while it comes, else as it is written, once it is sure to be the
 * answer (an attempt may be thrown away). Tools, thinking and notices go to standard error as they end.
 */
export function createAnswerPrinter({ stdout, stderr, flags }: PrinterOptions): AnswerPrinter {
  const isLive = stdout.isTTY === true && !flags.plain;
  const region = createLiveRegion(stdout);
  const answers = createScreenWriter();
  const others = createScreenWriter();
  let screen = emptyScreen;
  let shown: readonly string[] = [];
  let timer: NodeJS.Timeout | undefined;
  const view = (stream: NodeJS.WriteStream): View => ({
    frame: { width: proseWidth(stream), style: styleFor(stream, flags) },
    liveMax: Math.max(1, (stream.rows ?? 24) - 2),
    showThinking: false,
    showTools: false,
    now: Date.now(),
  });
  const draw = (): void => {
    const told = flags.quiet
      ? []
      : others.write(
          filtered(screen, (block) => !isText(block) && block.kind !== "user"),
          view(stderr),
        ).finished;
    if (told.length > 0) {
      if (isLive && shown.length > 0) region.clear();
      stderr.write(`${told.join("\n")}\n`);
    }
    if (!stdout.isTTY) return;
    const { finished, live } = answers.write(filtered(screen, isText), view(stdout));
    if (!isLive) {
      if (finished.length > 0) stdout.write(`${finished.join("\n")}\n`);
      return;
    }
    if (finished.length === 0 && live.length === 0 && shown.length === 0) return;
    shown = live;
    const rows = [...live, ""];
    region.draw({ finished, live: rows, cursor: { row: rows.length - 1, column: 0 } });
  };
  return {
    push(event) {
      const before = screen;
      screen = foldScreen(screen, event, Date.now());
      if (screen === before || timer) return;
      timer = setTimeout(() => {
        timer = undefined;
        draw();
      }, 1000 / framesPerSecond);
    },
    end(text) {
      clearTimeout(timer);
      timer = undefined;
      draw();
      if (!stdout.isTTY && text !== "") stdout.write(text.endsWith("\n") ? text : `${text}\n`);
    },
  };
}

function filtered(screen: Screen, which: (block: Block) => boolean): Screen {
  return { ...screen, blocks: screen.blocks.filter(which) };
}
