import { PassThrough, Writable } from "node:stream";
import type { TerminalInput, TerminalScreen } from "../src/chat/chat-room.ts";
import { VirtualTerminal } from "./virtual-terminal.ts";

/** A keyboard: bytes that are typed, and whether the terminal hands them out one by one. */
export class FakeInput extends PassThrough implements TerminalInput {
  isRaw = false;
  setRawMode(isRaw: boolean): void {
    this.isRaw = isRaw;
  }
}

/** A screen over the terminal emulator; reports when something was drawn. */
export class FakeScreen extends Writable implements TerminalScreen {
  readonly terminal: VirtualTerminal;
  private readonly watchers = new Set<() => void>();

  constructor(columns = 80, rows = 24) {
    super({ decodeStrings: false });
    this.terminal = new VirtualTerminal(columns, rows);
  }

  get columns(): number {
    return this.terminal.columns;
  }

  get rows(): number {
    return this.terminal.rows;
  }

  override _write(text: string, _: string, done: () => void): void {
    this.terminal.write(text);
    done();
    for (const watcher of this.watchers) watcher();
  }

  /** Resolves with all lines as soon as they fit. Fails with what stands there when nothing is drawn any more. */
  async until(fits: (lines: readonly string[]) => boolean): Promise<readonly string[]> {
    for (;;) {
      const drawn = this.nextDrawing();
      const lines = await this.terminal.lines();
      if (fits(lines)) return lines;
      if (!(await drawn)) throw new Error(`The screen stays like this:\n${lines.join("\n")}`);
    }
  }

  /** True when something is drawn, false when nothing is for long. */
  private nextDrawing(): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (isDrawn: boolean): void => {
        clearTimeout(timer);
        this.watchers.delete(watcher);
        resolve(isDrawn);
      };
      const watcher = (): void => settle(true);
      const timer = setTimeout(settle, 60_000, false).unref();
      this.watchers.add(watcher);
    });
  }

  /** Resolves with all lines as soon as one of them holds the text. */
  shows(text: string): Promise<readonly string[]> {
    return this.until((lines) => lines.some((line) => line.includes(text)));
  }
}
