/** What a key can do. */
export type ShortcutName =
  | "help"
  | "new"
  | "search"
  | "compose"
  | "stop"
  | "sidebar"
  | "next"
  | "previous"
  | "rename"
  | "model"
  | "run"
  | "theme"
  | "settings";

export interface Shortcut {
  readonly name: ShortcutName;
  /** As a person reads it; alternatives apart. */
  readonly keys: readonly string[];
  readonly does: string;
}

/** The keys of the whole page: the list under `?` and what the page listens to. `Mod` is Command on Apple devices, else Control. */
export const shortcuts: readonly Shortcut[] = [
  { name: "compose", keys: ["/"], does: "Write a message" },
  { name: "stop", keys: ["Escape"], does: "Stop the answer, keep what was written" },
  { name: "new", keys: ["Mod+Shift+O", "n"], does: "New conversation" },
  { name: "search", keys: ["Mod+K"], does: "Search conversations" },
  { name: "next", keys: ["Alt+ArrowDown"], does: "Next conversation" },
  { name: "previous", keys: ["Alt+ArrowUp"], does: "Previous conversation" },
  { name: "rename", keys: ["F2"], does: "Rename the conversation" },
  { name: "run", keys: ["Mod+Shift+E", "r"], does: "Show how the last answer was made" },
  { name: "model", keys: ["Mod+Shift+M"], does: "Choose the model" },
  { name: "sidebar", keys: ["Mod+B"], does: "Show or hide the list of conversations" },
  { name: "theme", keys: ["Mod+Shift+L"], does: "Light, dark or as the system" },
  { name: "settings", keys: ["Mod+,"], does: "Settings" },
  { name: "help", keys: ["?", "Mod+/"], does: "This list" },
];

/** The keys that only a text field or a list knows: part of the list under `?`. */
export const localShortcuts: readonly { readonly keys: readonly string[]; readonly does: string }[] = [
  { keys: ["Enter"], does: "Send the message" },
  { keys: ["Shift+Enter"], does: "New line" },
  { keys: ["Mod+F"], does: "Find in this conversation" },
  { keys: ["Mod+Enter"], does: "While an answer is written: steer it, instead of waiting" },
];

/** The fields of a keyboard event. */
export interface PressedKey {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

/**
 * The shortcut that a key is for; `isTyping` leaves single characters to the text field. Shift does not count for keys that are
 * signs (`?`), because keyboards differ.
 */
export function shortcutOf(
  pressed: PressedKey,
  options: { readonly isTyping: boolean; readonly isApple: boolean },
): ShortcutName | undefined {
  return shortcuts.find(({ keys }) => keys.some((key) => fits(key, pressed, options)))?.name;
}

function fits(key: string, pressed: PressedKey, { isTyping, isApple }: { readonly isTyping: boolean; readonly isApple: boolean }): boolean {
  const words = key.split("+");
  const last = words.at(-1) ?? "";
  const isPlain = words.length === 1 && last.length === 1;
  if (isPlain && isTyping) return false;
  const mod = words.includes("Mod");
  const isSign = last.length === 1 && last.toLowerCase() === last.toUpperCase();
  return (
    pressed.key.toLowerCase() === last.toLowerCase() &&
    pressed.ctrlKey === (mod && !isApple) &&
    pressed.metaKey === (mod && isApple) &&
    pressed.altKey === words.includes("Alt") &&
    (isSign || pressed.shiftKey === words.includes("Shift"))
  );
}

/** The key as it is written on the keyboard at hand. */
export function keyLabels(key: string, isApple: boolean): readonly string[] {
  const signs: { readonly [word: string]: string } = {
    Mod: isApple ? "⌘" : "Ctrl",
    Alt: isApple ? "⌥" : "Alt",
    Shift: isApple ? "⇧" : "Shift",
    Escape: "Esc",
    ArrowDown: "↓",
    ArrowUp: "↑",
  };
  return key.split("+").map((word) => signs[word] ?? (word.length === 1 ? word.toUpperCase() : word));
}
