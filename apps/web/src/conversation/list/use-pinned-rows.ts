import { type RefObject, useEffect, useRef } from "react";

/** Of a selection with more rows only both ends are kept. */
const pinnedMax = 200;

/** The indices of the rows with the focus or the selection. They stay rendered when they are scrolled out of sight. */
export function usePinnedRows(scroller: RefObject<HTMLElement | null>): RefObject<readonly number[]> {
  const pinned = useRef<readonly number[]>([]);
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const update = (): void => {
      pinned.current = [...focusedRow(element), ...selectedRows(element)];
    };
    element.addEventListener("focusin", update);
    element.addEventListener("focusout", update);
    document.addEventListener("selectionchange", update);
    return () => {
      element.removeEventListener("focusin", update);
      element.removeEventListener("focusout", update);
      document.removeEventListener("selectionchange", update);
    };
  }, [scroller]);
  return pinned;
}

function focusedRow(scroller: HTMLElement): readonly number[] {
  const place = scroller.contains(document.activeElement) ? placeOf(document.activeElement) : undefined;
  return place === undefined ? [] : [place];
}

function selectedRows(scroller: HTMLElement): readonly number[] {
  const selection = document.getSelection();
  if (!selection || selection.isCollapsed || !scroller.contains(selection.anchorNode)) return [];
  const [from, to] = [placeOf(selection.anchorNode), placeOf(selection.focusNode)];
  if (from === undefined) return [];
  if (to === undefined || Math.abs(to - from) >= pinnedMax) return to === undefined ? [from] : [from, to];
  const first = Math.min(from, to);
  return Array.from({ length: Math.abs(to - from) + 1 }, (_, i) => first + i);
}

function placeOf(node: Node | null): number | undefined {
  const element = node instanceof Element ? node : node?.parentElement;
  const place = element?.closest<HTMLElement>("[data-index]")?.dataset["index"];
  return place === undefined ? undefined : Number(place);
}
