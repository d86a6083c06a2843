import { type RefObject, useEffect, useRef, useState } from "react";
import { endThreshold } from "./use-message-list.ts";

/**
 * True while the reader is at the end of what scrolls. Calls `stay` when the place becomes smaller or wider while they are: a field
 * below that grows must not cover what is read.
 */
export function useAtEnd(scroller: RefObject<HTMLElement | null>, stay: () => void): boolean {
  const [isAtEnd, setAtEnd] = useState(true);
  const act = useRef(stay);
  useEffect(() => {
    act.current = stay;
  });
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    // Only the reader and the list itself scroll: a place that changes its size does not.
    let sticks = true;
    let frame = 0;
    const look = (): void => {
      frame = 0;
      sticks = element.scrollHeight - element.scrollTop - element.clientHeight <= endThreshold * 2;
      setAtEnd(sticks);
    };
    const later = (): void => {
      frame ||= requestAnimationFrame(look);
    };
    // The first call only reports the present size: a link may just have scrolled somewhere else.
    let isFirst = true;
    const observer = new ResizeObserver(() => {
      if (sticks && !isFirst) act.current();
      isFirst = false;
    });
    observer.observe(element);
    element.addEventListener("scroll", later, { passive: true });
    return () => {
      observer.disconnect();
      cancelAnimationFrame(frame);
      element.removeEventListener("scroll", later);
    };
  }, [scroller]);
  return isAtEnd;
}
