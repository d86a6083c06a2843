import { defaultRangeExtractor, type Range, useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { type RefObject, useCallback, useLayoutEffect, useRef } from "react";
import type { ConversationRow } from "../rows/conversation-row.ts";
import { rowHeight } from "../rows/row-height.ts";
import { usePinnedRows } from "./use-pinned-rows.ts";

/** Nearer to the end than this, a reader is taken to read along. */
export const endThreshold = 64;

export interface MessageList {
  readonly virtualizer: Virtualizer<HTMLDivElement, HTMLElement> & { readonly containerRef: (element: HTMLElement | null) => void };
  readonly scroller: RefObject<HTMLDivElement | null>;
}

/**
 * The rows that are in sight. Opens at the end and stays there while the end grows, as long as the reader is there; rows above are
 * measured without moving what is read.
 */
export function useMessageList(rows: readonly ConversationRow[]): MessageList {
  const scroller = useRef<HTMLDivElement>(null);
  const pinned = usePinnedRows(scroller);
  const virtualizer = useVirtualizer<HTMLDivElement, HTMLElement>({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: useCallback((place: number) => sizeAt(rows, place), [rows]),
    getItemKey: useCallback((place: number) => rows[place]?.key ?? place, [rows]),
    rangeExtractor: useCallback((range: Range) => withPinned(defaultRangeExtractor(range), pinned.current, range.count), [pinned]),
    overscan: 6,
    paddingStart: 16,
    paddingEnd: 24,
    scrollPaddingStart: 16,
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: endThreshold,
    directDomUpdates: true,
    directDomUpdatesMode: "position",
    useFlushSync: false,
    initialOffset: () => rows.reduce((sum, row) => sum + rowHeight(row), 0),
  });
  const isFilled = rows.length > 0;
  useLayoutEffect(() => {
    if (isFilled) virtualizer.scrollToEnd();
  }, [isFilled, virtualizer]);
  return { virtualizer, scroller };
}

function sizeAt(rows: readonly ConversationRow[], place: number): number {
  const row = rows[place];
  return row ? rowHeight(row) : 0;
}

/** With the rows that are kept mounted, in order. */
function withPinned(places: number[], pinned: readonly number[], count: number): number[] {
  const more = pinned.filter((place) => place < count && !places.includes(place));
  return more.length === 0 ? places : [...places, ...more].sort((a, b) => a - b);
}
