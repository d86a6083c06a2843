import { useEffect } from "react";

/** Calls when the keys for finding are pressed; a second press, in the field itself, is left to the browser's own find. */
export function useFindKey(field: string, open: () => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const isFind = event.key.toLowerCase() === "f" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
      if (!isFind || document.activeElement?.id === field || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      open();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [field, open]);
}
