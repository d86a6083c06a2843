import type { KeyboardEvent } from "react";
import type { MessageList } from "./use-message-list.ts";

/** How much of what was in sight goes when a page is turned. */
const pageShare = 0.87;

/**
 * Home, End and the page keys. The browser's own way glides there, and the glide ends as soon as a row on the way turns out to be
 * higher than it was taken for.
 */
export function onPageKey(event: KeyboardEvent<HTMLElement>, virtualizer: MessageList["virtualizer"]): void {
  const { currentTarget: scroller, target, key, ctrlKey, altKey, metaKey, shiftKey } = event;
  if (ctrlKey || altKey || metaKey || shiftKey || !(target instanceof HTMLElement)) return;
  // Fields and boxes that scroll by themselves know these keys, too.
  if (target !== scroller && target.matches("textarea, input, pre, [role=group]")) return;
  const page = scroller.clientHeight * pageShare;
  if (key === "Home") virtualizer.scrollToOffset(0);
  else if (key === "End") virtualizer.scrollToEnd();
  else if (key === "PageUp") scroller.scrollBy({ top: -page, behavior: "instant" });
  else if (key === "PageDown") scroller.scrollBy({ top: page, behavior: "instant" });
  else return;
  event.preventDefault();
}
