import { memo, type ReactNode } from "react";
import { CopyButton } from "../copy-button.tsx";
import { ScrollBox } from "../scroll-box.tsx";
import { PlainText } from "./plain-text.tsx";
import type { CodeChunk } from "./read-code.ts";
import { useCodeReader } from "./use-code-reader.ts";

export interface CodeBlockProps {
  /** As the author names it; may be empty. */
  readonly language: string;
  readonly code: string;
}

/** Code with the name of its language and a button that copies it, in colours once these are loaded. Long lines scroll. */
export const CodeBlock = memo(function CodeBlock({ language, code }: CodeBlockProps): ReactNode {
  const reader = useCodeReader(language);
  const name = language.slice(0, 32);
  return (
    <div className="code-block">
      <div className="code-block-head">
        <span className="code-block-language">{name === "" ? "text" : <PlainText text={name} />}</span>
        <CopyButton label="Copy code" text={code} />
      </div>
      <ScrollBox label={name === "" ? "Code" : `Code, ${name}`}>
        <code>
          {(reader?.read(code) ?? [[{ text: code }]]).map((chunk, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: chunks have no other name, and hold no state
            <Chunk key={i} chunk={chunk} />
          ))}
        </code>
      </ScrollBox>
    </div>
  );
});

const Chunk = memo(function Chunk({ chunk }: { readonly chunk: CodeChunk }): ReactNode {
  return (
    <span>
      {chunk.map(({ kind, text }, i) =>
        kind === undefined ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other name, and hold no state
          <PlainText key={i} text={text} />
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other name, and hold no state
          <span key={i} className={`code-${kind}`}>
            <PlainText text={text} />
          </span>
        ),
      )}
    </span>
  );
});
