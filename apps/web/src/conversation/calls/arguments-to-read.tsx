import type { JsonObject } from "@loopwright/core/protocol";
import { type ReactNode, useEffect, useRef } from "react";
import { JsonText } from "./long-text.tsx";

export interface ArgumentsToReadProps {
  readonly args: JsonObject;
  /** The end was in sight. Called at least once then. */
  readonly onRead: () => void;
}

/** Pixels that rounding may leave below the last line. */
const slackPx = 2;

/** What a tool would get, in a box that scrolls by itself, and word when its end was in sight. */
export function ArgumentsToRead({ args, onRead }: ArgumentsToReadProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const root = place.current;
    if (!root) return;
    const look = (): void => {
      const box = root.querySelector("pre");
      // A button stands below a text of which only the beginning is there.
      const isWhole = root.querySelector("[data-cut]") === null;
      if (box && isWhole && box.scrollHeight - box.scrollTop - box.clientHeight <= slackPx) onRead();
    };
    const sizes = new ResizeObserver(look);
    const changes = new MutationObserver(look);
    sizes.observe(root);
    changes.observe(root, { childList: true, subtree: true });
    // It does not bubble.
    root.addEventListener("scroll", look, { capture: true, passive: true });
    look();
    return () => {
      sizes.disconnect();
      changes.disconnect();
      root.removeEventListener("scroll", look, { capture: true });
    };
  }, [onRead]);
  return (
    <div ref={place} className="call-approval-args">
      <JsonText value={args} />
    </div>
  );
}
