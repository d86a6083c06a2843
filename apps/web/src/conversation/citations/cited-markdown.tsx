import { memo, type ReactNode, useCallback, useMemo } from "react";
import { type DrawLink, LinkContext } from "../markdown/link-context.ts";
import { Markdown } from "../markdown/markdown.tsx";
import { CitationGroup } from "./citation-group.tsx";
import type { CitedClaim } from "./cited-report.ts";
import { citationPlace, citedText } from "./cited-text.ts";

export interface CitedMarkdownProps {
  /** Names what is open in it. */
  readonly name: string;
  readonly text: string;
  /** The claims of the report that the text may be. */
  readonly claims?: readonly CitedClaim[] | undefined;
  /** The message is being written: its text is drawn as it stands, by the elements that the finished message keeps. */
  readonly isWritten?: boolean;
  /** More of the text may follow. */
  readonly isOpen?: boolean;
}

/** A text of the model; where it is a whole report, its numbers open their sources. */
export const CitedMarkdown = memo(function CitedMarkdown(props: CitedMarkdownProps): ReactNode {
  const { name, text, claims, isWritten = false, isOpen = false } = props;
  const cited = useMemo(() => (isWritten ? { text, citations: [] } : citedText(text, claims)), [text, claims, isWritten]);
  const draw = useCallback<DrawLink>(
    (address) => {
      const place = citationPlace(address);
      const citations = place === undefined ? undefined : cited.citations[place];
      return citations && <CitationGroup name={`${name}/${place}`} citations={citations} />;
    },
    [name, cited],
  );
  return (
    <LinkContext value={draw}>
      <Markdown text={cited.text} isOpen={isOpen} />
    </LinkContext>
  );
});
