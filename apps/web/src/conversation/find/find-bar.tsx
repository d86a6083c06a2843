import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from "react";
import { Icon } from "../../app/icon.tsx";
import type { MessageList } from "../list/use-message-list.ts";
import type { ConversationRow } from "../rows/conversation-row.ts";
import { findRows } from "./find-rows.ts";
import { markWords, unmarkWords } from "./mark-words.ts";
import "./find-bar.css";

export const findFieldId = "find-words";

export interface FindBarProps {
  readonly rows: readonly ConversationRow[];
  readonly virtualizer: MessageList["virtualizer"];
  readonly scroller: RefObject<HTMLElement | null>;
  readonly onClose: () => void;
}

/** Finds words in the whole conversation, also in messages that are not drawn. */
export function FindBar({ rows, virtualizer, scroller, onClose }: FindBarProps): ReactNode {
  const [words, setWords] = useState("");
  /** Place of the row that is looked at, among the rows that were found. */
  const [turn, setTurn] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  const found = useMemo(() => findRows(rows, words), [rows, words]);
  const row = found[turn];
  const wanted = useRef<number>(undefined);

  useEffect(() => {
    field.current?.focus();
    return unmarkWords;
  }, []);
  useEffect(() => {
    wanted.current = row;
    if (row !== undefined) virtualizer.scrollToIndex(row, { align: "center" });
  }, [row, virtualizer]);
  useMarks({ scroller, words, row, wanted });

  const step = (by: number): void => setTurn(found.length === 0 ? 0 : (turn + by + found.length) % found.length);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter") {
      event.preventDefault();
      step(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      event.stopPropagation();
      onClose();
      scroller.current?.focus({ preventScroll: true });
    }
  };
  return (
    <search className="find-bar" onKeyDown={onKeyDown}>
      <input
        ref={field}
        id={findFieldId}
        type="search"
        className="field"
        aria-label="Find in this conversation"
        placeholder="Find in this conversation"
        value={words}
        onChange={(event) => {
          const next = event.target.value;
          setWords(next);
          // From the end: the newest message is meant most often.
          setTurn(Math.max(0, findRows(rows, next).length - 1));
        }}
      />
      <span className="find-count" role="status">
        {words.trim() === "" ? "" : found.length === 0 ? "Nothing found" : `${turn + 1} of ${found.length}`}
      </span>
      <button
        type="button"
        className="icon-button small"
        aria-label="Previous message found"
        disabled={found.length < 2}
        onClick={() => step(-1)}
      >
        <Icon name="chevron" />
      </button>
      <button
        type="button"
        className="icon-button small"
        aria-label="Next message found"
        disabled={found.length < 2}
        onClick={() => step(1)}
      >
        <Icon name="chevron" />
      </button>
      <button type="button" className="icon-button small" aria-label="Close find" onClick={onClose}>
        <Icon name="close" />
      </button>
    </search>
  );
}

interface MarksOptions {
  readonly scroller: RefObject<HTMLElement | null>;
  readonly words: string;
  readonly row: number | undefined;
  /** The row as long as its words were not brought into sight. */
  readonly wanted: RefObject<number | undefined>;
}

/** Keeps the words marked in the rows that are drawn, and brings the first ones of the wanted row into sight. */
function useMarks({ scroller, words, row, wanted }: MarksOptions): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: another row is a reason to look again
  useEffect(() => {
    const root = scroller.current;
    if (!root) return;
    let frame = 0;
    const mark = (): void => {
      frame = 0;
      const first = markWords(root, words);
      const range = wanted.current === undefined ? undefined : first.get(wanted.current);
      if (!range) return;
      wanted.current = undefined;
      const { top, bottom } = range.getBoundingClientRect();
      const box = root.getBoundingClientRect();
      if (top < box.top || bottom > box.bottom) root.scrollBy({ top: top - box.top - box.height / 2, behavior: "instant" });
    };
    const later = (): void => {
      frame ||= requestAnimationFrame(mark);
    };
    later();
    const observer = new MutationObserver(later);
    observer.observe(root, { childList: true, subtree: true, characterData: true });
    root.addEventListener("scroll", later, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
      root.removeEventListener("scroll", later);
    };
  }, [scroller, words, row, wanted]);
}
