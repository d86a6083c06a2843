import type { AgentEvent } from "@loopwright/core";
import { proseWidth, type SharedFlags, styleFor } from "../flags.ts";
import { foldScreen } from "../screen/fold-screen.ts";
import { type Block, emptyScreen, type Screen } from "../screen/screen.ts";
import { createScreenWriter, type View } from "../screen/screen-writer.ts";
import { createLiveRegion } from "../terminal/live-region.ts";

/** Prints one answer as its events come. */
export interface AnswerPrinter {
  push(event: AgentEvent): void;
  /** The whole answer: printed now where standard output is no terminal. */
  end(text: string): void;
}

/** An output of the process. */
interface PrinterStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

interface PrinterOptions {
  readonly stdout: PrinterStream;
  readonly stderr: PrinterStream;
  readonly flags: SharedFlags & { readonly quiet?: boolean };
}

const framesPerSecond = 30;

/**
 * Text goes to standard output: on a terminal as Markdown while it comes, else as it is written, once it is sure to be the
 * answer (an attempt may be thrown away). Tools, thinking and notices go to standard error as they end. Where both are the
 * terminal, everything stands in the order in which it happened.
 */
export function createAnswerPrinter({ stdout, stderr, flags }: PrinterOptions): AnswerPrinter {
  const isOneTerminal = stdout.isTTY === true && stderr.isTTY === true && !flags.quiet;
  const onStdout = (block: Block): boolean => block.kind === "text" || (isOneTerminal && block.kind !== "user");
  const onStderr = (block: Block): boolean => !flags.quiet && block.kind !== "user" && !onStdout(block);
  const region = createLiveRegion(stdout);
  const answers = createScreenWriter();
  const others = createScreenWriter();
  let screen = emptyScreen;
  let isShowing = false;
  let timer: NodeJS.Timeout | undefined;
  const view = (stream: PrinterStream): View => ({
    frame: { width: proseWidth(stream), style: styleFor(stream, flags) },
    liveMax: Math.max(1, (stream.rows ?? 24) - 2),
    showThinking: false,
    hasKeys: false,
    showTools: false,
    now: Date.now(),
  });
  const draw = (): void => {
    const notified = others.write(filtered(screen, onStderr), view(stderr)).finished;
    if (notified.length > 0) stderr.write(`${notified.join("\n")}\n`);
    if (!stdout.isTTY) return;
    const { finished, live } = answers.write(filtered(screen, onStdout), view(stdout));
    if (flags.plain) {
      if (finished.length > 0) stdout.write(`${finished.join("\n")}\n`);
      return;
    }
    if (finished.length === 0 && live.length === 0 && !isShowing) return;
    isShowing = live.length > 0;
    region.draw({ finished, live: [...live, ""], cursor: { row: live.length, column: 0 } });
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
