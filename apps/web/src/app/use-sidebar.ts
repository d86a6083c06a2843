import { useEffect, useRef, useState } from "react";
import type { KeptText } from "./kept-text.ts";

export interface SidebarState {
  readonly isShown: boolean;
  /** True if the window is narrow and the sidebar lies over the conversation, as a drawer. In a wide window it is docked beside the conversation. */
  readonly isDrawerOpen: boolean;
  open(): void;
  close(): void;
  /** Closes the drawer; a docked sidebar stays. */
  closeDrawer(): void;
  toggle(): void;
}

const narrow = "(max-width: 52rem)";

/** Whether the list of conversations is shown: docked as the user left it, as a drawer only after the user opened it. */
export function useSidebar(kept: KeptText): SidebarState {
  const [isNarrow, setNarrow] = useState(() => matchMedia(narrow).matches);
  const [isDocked, setDocked] = useState(() => kept.get("sidebar") !== "hidden");
  const [isDrawerOpen, setDrawerOpen] = useState(false);

  useEffect(() => {
    const query = matchMedia(narrow);
    const onChange = (): void => {
      setNarrow(query.matches);
      setDrawerOpen(false);
    };
    query.addEventListener("change", onChange);
    return () => query.removeEventListener("change", onChange);
  }, []);
  useEffect(() => {
    if (!isDrawerOpen) return;
    const before = document.activeElement;
    document.querySelector<HTMLElement>(".sidebar a")?.focus();
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open], :popover-open")) return;
      event.preventDefault();
      setDrawerOpen(false);
    };
    addEventListener("keydown", onKeyDown, true);
    return () => {
      removeEventListener("keydown", onKeyDown, true);
      if (before instanceof HTMLElement && before.isConnected) requestAnimationFrame(() => before.focus());
    };
  }, [isDrawerOpen]);

  const isShown = isNarrow ? isDrawerOpen : isDocked;
  const wasShown = useRef(isShown);
  useEffect(() => {
    if (wasShown.current === isShown) return;
    wasShown.current = isShown;
    const element = document.activeElement;
    // The pressed button disappears with the change: the focus moves to the button that undoes it.
    if (element && element !== document.body && !element.closest("[inert]")) return;
    document.getElementById(isShown ? "hide-conversations" : "show-conversations")?.focus();
  }, [isShown]);

  const show = (next: boolean): void => {
    if (isNarrow) {
      setDrawerOpen(next);
      return;
    }
    setDocked(next);
    kept.set("sidebar", next ? undefined : "hidden");
  };
  return {
    isShown,
    isDrawerOpen: isNarrow && isDrawerOpen,
    open: () => show(true),
    close: () => show(false),
    closeDrawer: () => setDrawerOpen(false),
    toggle: () => show(!isShown),
  };
}
