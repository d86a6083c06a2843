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
}

/** A whole text of the model; where it is a report, its numbers open their sources. */
export const CitedMarkdown = memo(function CitedMarkdown({ name, text, claims }: CitedMarkdownProps): ReactNode {
  const cited = useMemo(() => citedText(text, claims), [text, claims]);
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
      <Markdown text={cited.text} />
    </LinkContext>
  );
});
