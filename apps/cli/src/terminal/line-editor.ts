import { neutralise } from "./neutralise.ts";

/** One key, as `node:readline` decodes it. */
export interface Key {
  readonly name?: string | undefined;
  readonly sequence?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly meta?: boolean | undefined;
  readonly shift?: boolean | undefined;
}

/** What is being typed. */
export interface Line {
  readonly text: string;
  /** Place of the cursor in `text`, between two whole characters. */
  readonly cursor: number;
  /** True between the marks of a bracketed paste: newlines are text then. */
  readonly isPasting: boolean;
}

/** What a key did: changed the line, sends it, or means something to the program. */
export type LineEffect = { readonly type: "changed" | "send"; readonly line: Line } | { readonly type: "command"; readonly name: Command };

/** Keys with a meaning outside the line. */
export type Command = "abort" | "interrupt" | "thinking" | "tools" | "end-of-input" | "older" | "newer" | "redraw" | "none";

export const emptyLine: Line = { text: "", cursor: 0, isPasting: false };

const commands: Readonly<Record<string, Command>> = { c: "interrupt", t: "thinking", o: "tools", l: "redraw" };
/** Shift+Enter as terminals send it: CSI u, modifyOtherKeys, Alt+Enter, line feed. */
const newLines: ReadonlySet<string> = new Set(["\u001b[13;2u", "\u001b[27;2;13~", "\u001b\r", "\u001b\n", "\n"]);
/** Characters of one input. */
const lineMax = 1_000_000;

const segmenter = new Intl.Segmenter();

/** What the key does to the line. Pure. */
export function pressKey(line: Line, text: string | undefined, pressed: Key): LineEffect {
  const key = plainKey(pressed);
  const changed = (next: Partial<Line>): LineEffect => ({ type: "changed", line: { ...line, ...next } });
  if (key.name === "paste-start") return changed({ isPasting: true });
  if (key.name === "paste-end") return changed({ isPasting: false });
  if (line.isPasting) return insert(line, key.name === "return" ? "\n" : (text ?? key.sequence ?? ""));
  if (newLines.has(key.sequence ?? "")) return insert(line, "\n");
  if (key.name === "return" || key.name === "enter") return enter(line);
  if (key.name === "escape") return { type: "command", name: "abort" };
  if (key.ctrl) return control(line, key.name ?? "");
  if (key.meta) return alternate(line, key.name ?? "");
  return move(line, key.name) ?? insert(line, text ?? "");
}

/** The line with the text at the cursor; control characters are made visible. */
function insert(line: Line, text: string): LineEffect {
  const clean = neutralise(text.replaceAll("\r\n", "\n").replaceAll("\r", "\n")).slice(0, Math.max(0, lineMax - line.text.length));
  const next = line.text.slice(0, line.cursor) + clean + line.text.slice(line.cursor);
  return { type: "changed", line: { ...line, text: next, cursor: line.cursor + clean.length } };
}

/** A backslash before the cursor at the end asks for a new line in its place. */
function enter(line: Line): LineEffect {
  if (line.cursor === line.text.length && line.text.endsWith("\\")) {
    const text = `${line.text.slice(0, -1)}\n`;
    return { type: "changed", line: { ...line, text, cursor: text.length } };
  }
  return { type: "send", line };
}

function control(line: Line, name: string): LineEffect {
  const { text, cursor } = line;
  const start = text.lastIndexOf("\n", cursor - 1) + 1;
  const found = text.indexOf("\n", cursor);
  const stop = found < 0 ? text.length : found;
  const to = (next: string, at: number): LineEffect => ({ type: "changed", line: { ...line, text: next, cursor: at } });
  switch (name) {
    case "a":
      return to(text, start);
    case "e":
      return to(text, stop);
    case "u":
      return to(text.slice(0, start) + text.slice(cursor), start);
    case "k":
      return to(text.slice(0, cursor) + text.slice(stop), cursor);
    case "w":
      return to(text.slice(0, wordStart(text, cursor)) + text.slice(cursor), wordStart(text, cursor));
    case "left":
      return to(text, wordStart(text, cursor));
    case "right":
      return to(text, wordEnd(text, cursor));
    case "j":
      return insert(line, "\n");
    case "h":
      return move(line, "backspace") ?? to(text, cursor);
    case "d":
      return text === "" ? { type: "command", name: "end-of-input" } : (move(line, "delete") ?? to(text, cursor));
    default:
      return { type: "command", name: commands[name] ?? "none" };
  }
}

function alternate(line: Line, name: string): LineEffect {
  const { text, cursor } = line;
  if (name === "b") return { type: "changed", line: { ...line, cursor: wordStart(text, cursor) } };
  if (name === "f") return { type: "changed", line: { ...line, cursor: wordEnd(text, cursor) } };
  return name === "backspace" ? control(line, "w") : { type: "command", name: "none" };
}

function move(line: Line, name: string | undefined): LineEffect | undefined {
  const { text, cursor } = line;
  const to = (next: string, at: number): LineEffect => ({ type: "changed", line: { ...line, text: next, cursor: at } });
  const before = previous(text, cursor);
  const after = cursor + (segmenter.segment(text).containing(cursor)?.segment.length ?? 0);
  switch (name) {
    case "left":
      return to(text, before);
    case "right":
      return to(text, after);
    case "home":
      return control(line, "a");
    case "end":
      return control(line, "e");
    case "backspace":
      return to(text.slice(0, before) + text.slice(cursor), before);
    case "delete":
      return to(text.slice(0, cursor) + text.slice(after), cursor);
    case "up":
    case "down":
      return vertical(line, name);
    case "tab":
      return insert(line, "  ");
    default:
      return name !== undefined && name.length > 1 && name !== "space" ? { type: "command", name: "none" } : undefined;
  }
}

/** One line up or down in the text; beyond its first and last line the history is meant. */
function vertical(line: Line, name: "up" | "down"): LineEffect {
  const { text, cursor } = line;
  const start = text.lastIndexOf("\n", cursor - 1) + 1;
  const column = cursor - start;
  if (name === "up") {
    if (start === 0) return { type: "command", name: "older" };
    const above = text.lastIndexOf("\n", start - 2) + 1;
    return { type: "changed", line: { ...line, cursor: Math.min(above + column, start - 1) } };
  }
  const stop = text.indexOf("\n", cursor);
  if (stop < 0) return { type: "command", name: "newer" };
  const next = text.indexOf("\n", stop + 1);
  return { type: "changed", line: { ...line, cursor: Math.min(stop + 1 + column, next < 0 ? text.length : next) } };
}

function previous(text: string, cursor: number): number {
  const near = Math.max(0, cursor - 64);
  let at = near;
  for (const { index, segment } of segmenter.segment(text.slice(near, cursor))) if (segment !== "") at = near + index;
  return at;
}

function wordStart(text: string, cursor: number): number {
  return Math.max(0, text.slice(0, cursor).search(/\S+\s*$/));
}

function wordEnd(text: string, cursor: number): number {
  return cursor + (/^\s*\S*/.exec(text.slice(cursor))?.[0].length ?? 0);
}

const namesOfCodes: ReadonlyMap<number, string> = new Map([
  [13, "return"],
  [27, "escape"],
  [9, "tab"],
  [127, "backspace"],
]);

/** Keys in the longer form that terminals with the kitty protocol send, as everybody else sends them. */
function plainKey(key: Key): Key {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this is how a key begins.
  const [found, code = "", bits = "1"] = /^\u001b\[(\d+)(?:;(\d+))?u$/.exec(key.sequence ?? "") ?? [];
  if (!found) return key;
  const modifiers = Number(bits) - 1;
  const name = namesOfCodes.get(Number(code)) ?? String.fromCodePoint(Number(code)).toLowerCase();
  return { name, sequence: found, shift: (modifiers & 1) > 0, meta: (modifiers & 2) > 0, ctrl: (modifiers & 4) > 0 };
}
