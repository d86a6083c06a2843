import { type RefObject, useEffect, useState } from "react";
import { endThreshold } from "./use-message-list.ts";

/** True while the reader is at the end of what scrolls. */
export function useAtEnd(scroller: RefObject<HTMLElement | null>): boolean {
  const [isAtEnd, setAtEnd] = useState(true);
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    let frame = 0;
    const look = (): void => {
      frame = 0;
      setAtEnd(element.scrollHeight - element.scrollTop - element.clientHeight <= endThreshold * 2);
    };
    const later = (): void => {
      frame ||= requestAnimationFrame(look);
    };
    element.addEventListener("scroll", later, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      element.removeEventListener("scroll", later);
    };
  }, [scroller]);
  return isAtEnd;
}
