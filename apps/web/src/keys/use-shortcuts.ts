import { useEffect, useRef } from "react";
import { type ShortcutName, shortcutOf } from "./shortcuts.ts";

/** True where Command takes the place of Control. */
export const isApple: boolean = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** What the page does on a shortcut; false: nothing, and the browser handles the key. */
export type ShortcutActions = { readonly [Name in ShortcutName]?: () => unknown };

/** Listens to the shortcuts of the page. An open dialog or menu has the keyboard to itself. */
export function useShortcuts(actions: ShortcutActions): void {
  const latest = useRef(actions);
  useEffect(() => {
    latest.current = actions;
  });
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open], :popover-open")) return;
      const name = shortcutOf(event, { isTyping: isTextField(event.target), isApple });
      const act = name === undefined ? undefined : latest.current[name];
      if (act && act() !== false) event.preventDefault();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}

function isTextField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=button])");
}
