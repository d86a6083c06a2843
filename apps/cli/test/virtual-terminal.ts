import xterm from "@xterm/headless";

/** A terminal emulator as an output stream: what is written can be looked at as a person would. */
export class VirtualTerminal {
  readonly written: string[] = [];
  private readonly emulator: InstanceType<typeof xterm.Terminal>;
  private pending: Promise<void> = Promise.resolve();

  constructor(columns = 80, rows = 24) {
    this.emulator = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, convertEol: true, allowProposedApi: true });
  }

  get columns(): number {
    return this.emulator.cols;
  }

  get rows(): number {
    return this.emulator.rows;
  }

  write(text: string): true {
    this.written.push(text);
    this.pending = new Promise((resolve) => this.emulator.write(text, resolve));
    return true;
  }

  async resize(columns: number, rows: number): Promise<void> {
    await this.pending;
    this.emulator.resize(columns, rows);
  }

  /** All lines, the scrollback first, without trailing spaces and trailing empty lines. Broken lines are joined again. */
  async lines(): Promise<readonly string[]> {
    await this.pending;
    const { active } = this.emulator.buffer;
    const lines: string[] = [];
    for (let row = 0; row < active.length; row++) {
      const line = active.getLine(row);
      const text = line?.translateToString(true) ?? "";
      if (line?.isWrapped) lines.push(`${lines.pop() ?? ""}${text}`);
      else lines.push(text);
    }
    while (lines.at(-1) === "") lines.pop();
    return lines;
  }

  /** Text of the row in which the cursor stands, and its column. */
  async cursor(): Promise<{ readonly line: string; readonly column: number }> {
    await this.pending;
    const { active } = this.emulator.buffer;
    return { line: active.getLine(active.baseY + active.cursorY)?.translateToString(true) ?? "", column: active.cursorX };
  }
}
