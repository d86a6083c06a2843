import { expect, it } from "vitest";
import { keyLabels, type PressedKey, shortcutOf, shortcuts } from "./shortcuts.ts";

const press = (key: string, held: Partial<PressedKey> = {}): PressedKey => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...held,
});
const away = { isTyping: false, isApple: false };
const typing = { isTyping: true, isApple: false };

it("a single character belongs to the text field while a user types", () => {
  expect(shortcutOf(press("?", { shiftKey: true }), away)).toBe("help");
  expect(shortcutOf(press("?", { shiftKey: true }), typing)).toBeUndefined();
  expect(shortcutOf(press("n"), typing)).toBeUndefined();
  expect(shortcutOf(press("Escape"), typing)).toBe("stop");
});

it("command stands for control on Apple devices and only there", () => {
  expect(shortcutOf(press("k", { ctrlKey: true }), typing)).toBe("search");
  expect(shortcutOf(press("k", { metaKey: true }), typing)).toBeUndefined();
  expect(shortcutOf(press("k", { metaKey: true }), { isTyping: true, isApple: true })).toBe("search");
});

it("a key with another one held down is another key", () => {
  expect(shortcutOf(press("n", { altKey: true }), away)).toBeUndefined();
  expect(shortcutOf(press("N", { shiftKey: true }), away)).toBeUndefined();
  expect(shortcutOf(press("O", { ctrlKey: true, shiftKey: true }), typing)).toBe("new");
});

it("no two shortcuts share a key", () => {
  const keys = shortcuts.flatMap((shortcut) => shortcut.keys);
  expect(new Set(keys).size).toBe(keys.length);
});

it("keys are written as on the keyboard at hand", () => {
  expect(keyLabels("Mod+Shift+O", true)).toEqual(["⌘", "⇧", "O"]);
  expect(keyLabels("Alt+ArrowUp", false)).toEqual(["Alt", "↑"]);
});
