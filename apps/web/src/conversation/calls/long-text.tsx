import type { Json } from "@loopwright/core/protocol";
import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { countLabel } from "../amount-labels.ts";
import { CopyButton } from "../copy-button.tsx";
import { CodeBlock } from "../markdown/code-block.tsx";
import { PlainText } from "../markdown/plain-text.tsx";
import { ScrollBox } from "../scroll-box.tsx";

/** More is shown on request. */
const shownCharactersMax = 20_000;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the colours of a terminal begin with one
const colours = /\u001b\[[\d;]*m/g;

export interface LongTextProps {
  readonly text: string;
  /** Keeps the end in sight. */
  readonly followsEnd?: boolean;
}

/** What a program wrote, as it wrote it but without the colours of a terminal. */
export function LongText({ text, followsEnd = false }: LongTextProps): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const box = useRef<HTMLPreElement>(null);
  const words = text.replaceAll(colours, "");
  const isCut = words.length > shownCharactersMax && !isWhole;
  const shown = isCut ? (followsEnd ? words.slice(-shownCharactersMax) : words.slice(0, shownCharactersMax)) : words;
  useLayoutEffect(() => {
    if (followsEnd && box.current && shown !== "") box.current.scrollTop = box.current.scrollHeight;
  }, [followsEnd, shown]);
  return (
    <div className="long-text">
      <ScrollBox box={box} label="Text" className="long-text-box" dir="auto">
        <PlainText text={shown} />
      </ScrollBox>
      <CopyButton label="Copy text" text={words} />
      {isCut ? (
        <button type="button" className="button small" data-cut="" onClick={() => setWhole(true)}>
          Show all {countLabel(words.length)} characters
        </button>
      ) : null}
    </div>
  );
}

/** A value as people read JSON. */
export function JsonText({ value }: { readonly value: Json }): ReactNode {
  const text = JSON.stringify(value, undefined, 2);
  return text.length > shownCharactersMax ? <LongText text={text} /> : <CodeBlock language="json" code={text} />;
}
