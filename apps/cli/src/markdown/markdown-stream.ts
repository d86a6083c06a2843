import { Lexer, type Token } from "marked";
import { blockLines, codeLabel, codeLine } from "./block-lines.ts";
import type { Frame } from "./frame.ts";

/** Lines that will never change, and lines of the block that is still being written. */
export interface StreamLines {
  readonly finished: readonly string[];
  readonly live: readonly string[];
}

/**
 * Owns: the Markdown that came and was not yet given out as finished lines.
 * Invariants: I1 a finished line is given out once; I2 only the last block is read again, and of a code block only its last
 * line, so the cost of a piece does not grow with the answer; I3 the finished lines of any cutting of the same text are the same
 * as those of the whole, unless a block was longer than `liveMax`.
 */
export interface MarkdownStream {
  push(text: string): void;
  /** What became final since the last call, and the rest as it looks now, at most `liveMax` lines of it. */
  take(frame: Frame, liveMax: number): StreamLines;
  /** The rest, final. */
  end(frame: Frame): readonly string[];
}

interface Fence {
  readonly closing: RegExp;
  readonly indent: RegExp;
}

const opening = /^( {0,3})(`{3,}|~{3,})([^\n]*)\n/;
/** A blank line may be followed by more of the same block. */
const continues: ReadonlySet<string> = new Set(["list", "code", "html", "blockquote", "def"]);

class BlockStream implements MarkdownStream {
  private pending = "";
  private fence: Fence | undefined;
  /** Whether a blank line is owed before the next block. */
  private isFirst = true;
  /** Lines of the live block that had to be given out because it was too long. */
  private givenOut = 0;

  push(text: string): void {
    this.pending += text;
  }

  take(frame: Frame, liveMax: number): StreamLines {
    const finished: string[] = [];
    let live = this.advance(frame, finished);
    live = live.slice(this.givenOut);
    const over = live.length - liveMax;
    if (over > 0) {
      finished.push(...live.slice(0, over));
      live = live.slice(over);
      this.givenOut += over;
    }
    return { finished, live };
  }

  end(frame: Frame): readonly string[] {
    if (this.pending !== "" && !this.pending.endsWith("\n")) this.pending += "\n";
    const finished: string[] = [];
    const rest = this.advance(frame, finished).slice(this.givenOut);
    this.pending = "";
    this.fence = undefined;
    this.givenOut = 0;
    return [...finished, ...rest];
  }

  /** Gives finished blocks out and returns the lines of the one that is open. */
  private advance(frame: Frame, finished: string[]): readonly string[] {
    for (;;) {
      if (this.fence) {
        const live = this.readFence(this.fence, frame, finished);
        if (live) return live;
        continue;
      }
      const match = opening.exec(this.pending);
      if (match && !(match[2]?.startsWith("`") && match[3]?.includes("`"))) {
        this.openFence(match, frame, finished);
        continue;
      }
      const live = this.readBlocks(frame, finished);
      if (live) return live;
    }
  }

  private openFence([raw, indent = "", mark = "", info = ""]: RegExpExecArray, frame: Frame, finished: string[]): void {
    this.pending = this.pending.slice(raw.length);
    this.fence = {
      closing: new RegExp(`^ {0,3}${mark[0]}{${mark.length},}[ ]*$`),
      indent: new RegExp(`^ {0,${indent.length}}`),
    };
    this.giveOut(codeLabel(info.trim().split(/\s/)[0], frame.style), finished, { always: true });
  }

  /** Gives complete lines out at once; `undefined` when the fence was closed. */
  private readFence(fence: Fence, frame: Frame, finished: string[]): readonly string[] | undefined {
    for (let end = this.pending.indexOf("\n"); end >= 0; end = this.pending.indexOf("\n")) {
      const line = this.pending.slice(0, end);
      this.pending = this.pending.slice(end + 1);
      if (fence.closing.test(line)) {
        this.fence = undefined;
        return undefined;
      }
      finished.push(...codeLine(line.replace(fence.indent, ""), frame));
    }
    const last = this.pending.replace(fence.indent, "");
    return last === "" || fence.closing.test(last) || /^[`~]+$/.test(last) ? [] : codeLine(last, frame);
  }

  /** Gives all blocks but the open one out; `undefined` when a code block begins. */
  private readBlocks(frame: Frame, finished: string[]): readonly string[] | undefined {
    const tokens = new Lexer({ gfm: true }).lex(this.pending);
    const open = openBlock(tokens);
    for (const [place, token] of tokens.entries()) {
      if (place === open) break;
      if (isFenced(token)) return undefined;
      this.pending = this.pending.slice(token.raw.length);
      this.giveOut(blockLines(token, frame), finished);
    }
    const token = tokens[open];
    if (!token) return [];
    if (isFenced(token)) return undefined;
    const lines = blockLines(token, frame);
    return this.isFirst || lines.length === 0 ? lines : ["", ...lines];
  }

  private giveOut(lines: readonly string[], finished: string[], { always = false } = {}): void {
    if (lines.length === 0 && !always) return;
    const block = this.isFirst ? lines : ["", ...lines];
    finished.push(...block.slice(this.givenOut));
    this.isFirst = false;
    this.givenOut = 0;
  }
}

function isFenced(token: Token): boolean {
  return token.type === "code" && opening.test(token.raw);
}

/** Place of the block that later text may still change; the number of tokens when none is open. */
function openBlock(tokens: readonly Token[]): number {
  const last = tokens.findLastIndex((token) => token.type !== "space");
  const token = tokens[last];
  if (!token) return tokens.length;
  const isClosed =
    last < tokens.length - 1 || /\n\s*\n$/.test(token.raw) || (/^(heading|hr)$/.test(token.type) && token.raw.endsWith("\n"));
  return isClosed && !continues.has(token.type) ? tokens.length : last;
}

/** A reader of Markdown that comes in pieces. */
export function createMarkdownStream(): MarkdownStream {
  return new BlockStream();
}
