import type { FileHandle } from "node:fs/promises";
import { TextDecoder } from "node:util";
import type { AgentError } from "@loopwright/core";
import { fileError } from "./file-error.ts";

export interface ReadRange {
  /** From 1. */
  readonly firstLine: number;
  readonly linesMax: number;
  readonly charactersMax: number;
}

export interface ReadOutcome {
  readonly firstLine: number;
  /** Lines given, the last one perhaps in part. */
  readonly lines: number;
  readonly isComplete: boolean;
  /** What a reader should know of the rest; empty when there is none. */
  readonly note: string;
}

const pieceBytes = 8 * 1024;

/**
 * The lines of the range, in pieces of at most 8 KiB, each from a read of its own; then how far it came. Constant memory.
 * @throws AgentError TOOL_FAILED for what is no UTF-8 text; a first piece with a zero byte in it is refused before anything is given.
 */
export async function* readText(
  handle: FileHandle,
  options: { readonly path: string; readonly range: ReadRange; readonly signal: AbortSignal },
): AsyncGenerator<string, ReadOutcome> {
  const { path, range, signal } = options;
  const buffer = new Uint8Array(pieceBytes);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const window = new LineWindow(range);
  for (let position = 0; ; ) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, pieceBytes, position);
    const bytes = buffer.subarray(0, bytesRead);
    if (bytes.includes(0)) throw binaryError(path);
    position += bytesRead;
    const piece = window.take(decode(decoder, { bytes, isLast: bytesRead === 0, path }));
    if (piece !== "") yield piece;
    if (bytesRead === 0 || window.isFull) return window.outcome(path);
  }
}

/** Lets through the characters of the wanted lines. */
class LineWindow {
  isFull = false;
  private line = 1;
  private given = 0;
  private atLineStart = true;
  private readonly range: ReadRange;

  constructor(range: ReadRange) {
    this.range = range;
  }

  take(text: string): string {
    const { firstLine, linesMax, charactersMax } = this.range;
    let start = 0;
    while (this.line < firstLine) {
      const end = text.indexOf("\n", start);
      if (end === -1) {
        if (start < text.length) this.atLineStart = false;
        return "";
      }
      start = end + 1;
      this.line++;
      this.atLineStart = true;
    }
    let end = start;
    while (end < text.length) {
      if (this.line >= firstLine + linesMax || this.given + end - start >= charactersMax) {
        this.isFull = true;
        break;
      }
      this.atLineStart = text[end] === "\n";
      if (this.atLineStart) this.line++;
      end++;
    }
    if (this.isFull && /[\uD800-\uDBFF]/.test(text[end - 1] ?? "") && end > start) end--;
    this.given += end - start;
    return text.slice(start, end);
  }

  outcome(path: string): ReadOutcome {
    const { firstLine } = this.range;
    const lines = Math.max(0, this.line - firstLine + (this.atLineStart ? 0 : 1));
    const base = { firstLine, lines, isComplete: !this.isFull };
    if (this.given === 0 && !this.isFull) return { ...base, lines: 0, note: this.emptyNote(path) };
    if (!this.isFull) return { ...base, note: "" };
    const cut = this.atLineStart ? "" : `line ${this.line} is cut after ${this.given} characters of this answer, `;
    return { ...base, note: `${this.atLineStart ? "" : "\n"}[${cut}more follows: continue with offset ${this.nextLine()}]` };
  }

  /** A line that was cut is read again from its beginning, unless it was the only one: then it would be cut again. */
  private nextLine(): number {
    return !this.atLineStart && this.line === this.range.firstLine ? this.line + 1 : this.line;
  }

  private emptyNote(path: string): string {
    const total = this.line - (this.atLineStart ? 1 : 0);
    return total === 0 ? `[${JSON.stringify(path)} is empty]` : `[there is no line ${this.range.firstLine}: the file has ${total} lines]`;
  }
}

function decode(decoder: TextDecoder, piece: { readonly bytes: Uint8Array; readonly isLast: boolean; readonly path: string }): string {
  try {
    return decoder.decode(piece.bytes, { stream: !piece.isLast });
  } catch {
    throw binaryError(piece.path);
  }
}

function binaryError(path: string): AgentError {
  return fileError("TOOL_FAILED", path, { what: "is not text in UTF-8.", fix: "Only text files can be read." });
}
