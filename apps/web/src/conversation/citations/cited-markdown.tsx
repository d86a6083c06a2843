import { memo, type ReactNode, useMemo } from "react";
import { Markdown } from "../markdown/markdown.tsx";
import type { CitedClaim } from "./cited-report.ts";
import { citedText } from "./cited-text.ts";
import { CitationsContext } from "./citations-context.ts";

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
  const citations = useMemo(() => ({ name, citations: cited.citations }), [name, cited]);
  return (
    <CitationsContext value={citations}>
      <Markdown text={cited.text} />
    </CitationsContext>
  );
});
