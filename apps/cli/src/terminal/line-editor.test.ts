import { describe, expect, test } from "vitest";
import { emptyLine, type Key, type Line, pressKey } from "./line-editor.ts";

function type(line: Line, text: string): Line {
  return Array.from(text).reduce((current, character) => press(current, { sequence: character }, character), line);
}

function press(line: Line, key: Key, text?: string): Line {
  const effect = pressKey(line, text, key);
  if (effect.type !== "changed") throw new Error(`${effect.type} came`);
  return effect.line;
}

const start = type(emptyLine, "one two");
const at = (cursor: number, text = "one two"): Line => ({ text, cursor, isPasting: false });

describe("a line", () => {
  test.each<[string, Line, Key, Line]>([
    ["left goes back", start, { name: "left" }, at(6)],
    ["home goes to the start", start, { name: "home" }, at(0)],
    ["Ctrl+W takes a word", start, { name: "w", ctrl: true }, at(4, "one ")],
    ["Ctrl+U takes all before the cursor", at(4), { name: "u", ctrl: true }, at(0, "two")],
    ["Ctrl+K takes all behind it", at(4), { name: "k", ctrl: true }, at(4, "one ")],
    [
      "Ctrl+A and up move in the text",
      { text: "a\nbc", cursor: 4, isPasting: false },
      { name: "up" },
      { text: "a\nbc", cursor: 1, isPasting: false },
    ],
    ["Alt+B goes back a word", start, { name: "b", meta: true }, at(4)],
    ["backspace takes a whole emoji", type(emptyLine, "a👩‍👩‍👧"), { name: "backspace" }, at(1, "a")],
    ["delete takes what is behind the cursor", at(0), { name: "delete" }, at(0, "ne two")],
  ])("%s", (_, line, key, expected) => {
    expect(press(line, key)).toEqual(expected);
  });

  test("Enter sends it", () => {
    expect(pressKey(start, "\r", { name: "return", sequence: "\r" })).toEqual({ type: "send", line: start });
  });

  test.each([
    ["CSI u", "\u001b[13;2u"],
    ["modifyOtherKeys", "\u001b[27;2;13~"],
    ["Alt+Enter", "\u001b\r"],
    ["line feed", "\n"],
  ])("Shift+Enter as %s makes a new line", (_, sequence) => {
    expect(press(at(3, "one"), { name: "return", sequence }).text).toBe("one\n");
  });

  test("a backslash at the end makes a new line", () => {
    expect(press(type(emptyLine, "one\\"), { name: "return", sequence: "\r" })).toEqual(at(4, "one\n"));
  });

  test("a pasted newline does not send", () => {
    const pasting = press(emptyLine, { name: "paste-start" });
    const pasted = press(press(pasting, { name: "return", sequence: "\r" }, "\r"), { name: "x", sequence: "x" }, "x");
    expect(press(pasted, { name: "paste-end" })).toEqual(at(2, "\nx"));
  });

  test("pasted control characters become harmless", () => {
    expect(press(emptyLine, { sequence: "\u009b" }, "\u009b").text).toBe("\ufffd");
  });

  test.each<[string, Key, string]>([
    ["Escape", { name: "escape", sequence: "\u001b" }, "abort"],
    ["Escape of the kitty protocol", { name: "undefined", sequence: "\u001b[27u" }, "abort"],
    ["Ctrl+C", { name: "c", ctrl: true, sequence: "\u0003" }, "interrupt"],
    ["Ctrl+C of the kitty protocol", { name: "undefined", sequence: "\u001b[99;5u" }, "interrupt"],
    ["Ctrl+T", { name: "t", ctrl: true }, "thinking"],
    ["Ctrl+O", { name: "o", ctrl: true }, "tools"],
    ["up on the first line", { name: "up" }, "older"],
    ["down on the last line", { name: "down" }, "newer"],
    ["F5", { name: "f5", sequence: "\u001b[15~" }, "none"],
  ])("%s means something to the program", (_, key, name) => {
    expect(pressKey(start, undefined, key)).toEqual({ type: "command", name });
  });

  test("Ctrl+D leaves only when nothing is typed", () => {
    expect(pressKey(emptyLine, undefined, { name: "d", ctrl: true })).toEqual({ type: "command", name: "end-of-input" });
    expect(pressKey(start, undefined, { name: "d", ctrl: true }).type).toBe("changed");
  });
});
