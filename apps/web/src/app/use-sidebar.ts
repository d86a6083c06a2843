import { useEffect, useRef, useState } from "react";
import type { KeptText } from "./kept-text.ts";

export interface SidebarState {
  readonly isShown: boolean;
  /** It lies over the conversation, on a narrow window. */
  readonly isDrawerOpen: boolean;
  open(): void;
  close(): void;
  /** Closes it only where it lies over the conversation. */
  closeDrawer(): void;
  toggle(): void;
}

const narrow = "(max-width: 52rem)";

/** Whether the list of conversations is shown: beside the conversation as it was left, over it only when asked for. */
export function useSidebar(kept: KeptText): SidebarState {
  const [isNarrow, setNarrow] = useState(() => matchMedia(narrow).matches);
  const [isBeside, setBeside] = useState(() => kept.get("sidebar") !== "hidden");
  const [isOver, setOver] = useState(false);

  useEffect(() => {
    const query = matchMedia(narrow);
    const onChange = (): void => {
      setNarrow(query.matches);
      setOver(false);
    };
    query.addEventListener("change", onChange);
    return () => query.removeEventListener("change", onChange);
  }, []);
  useEffect(() => {
    if (!isOver) return;
    const before = document.activeElement;
    document.querySelector<HTMLElement>(".sidebar a")?.focus();
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open], :popover-open")) return;
      event.preventDefault();
      setOver(false);
    };
    addEventListener("keydown", onKeyDown, true);
    return () => {
      removeEventListener("keydown", onKeyDown, true);
      if (before instanceof HTMLElement && before.isConnected) requestAnimationFrame(() => before.focus());
    };
  }, [isOver]);

  const isShown = isNarrow ? isOver : isBeside;
  const wasShown = useRef(isShown);
  useEffect(() => {
    if (wasShown.current === isShown) return;
    wasShown.current = isShown;
    const element = document.activeElement;
    // The button that was pressed is gone with what it showed or hid: the focus goes to the one that takes it back.
    if (element && element !== document.body && !element.closest("[inert]")) return;
    document.getElementById(isShown ? "hide-conversations" : "show-conversations")?.focus();
  }, [isShown]);

  const show = (next: boolean): void => {
    if (isNarrow) {
      setOver(next);
      return;
    }
    setBeside(next);
    kept.set("sidebar", next ? undefined : "hidden");
  };
  return {
    isShown,
    isDrawerOpen: isNarrow && isOver,
    open: () => show(true),
    close: () => show(false),
    closeDrawer: () => setOver(false),
    toggle: () => show(!isShown),
  };
}
