import type { Links, Token, Tokens } from "marked";
import { Fragment, memo, type ReactNode, useRef } from "react";
import { CodeBlock } from "./code-block.tsx";
import { fenceOf } from "./fence-of.ts";
import type { Footnote } from "./footnotes.ts";
import { Inline, nestingMax } from "./inline.tsx";
import { MarkdownTable } from "./markdown-table.tsx";
import { PlainText } from "./plain-text.tsx";
import { type ReadBlock, readBlock } from "./read-block.ts";

export interface BlockProps {
  readonly text: string;
  readonly isFence: boolean;
  /** More of it may come. */
  readonly isOpen: boolean;
  /** The level in the outline, for a heading. */
  readonly level: number | undefined;
  readonly links: Links;
}

/** One block of Markdown. Read and drawn again only when its own text changes. */
export const Block = memo(function Block({ text, isFence, isOpen, level, links }: BlockProps): ReactNode {
  if (isFence) return <CodeBlock {...fenceOf(text)} />;
  return <Flow text={text} isOpen={isOpen} level={level} links={links} />;
});

type FlowProps = Pick<BlockProps, "text" | "isOpen" | "level" | "links">;

function Flow({ text, isOpen, level, links }: FlowProps): ReactNode {
  const read = useRef<ReadBlock>(undefined);
  read.current = readBlock({ text, isOpen, links, before: read.current });
  const { tokens, rest } = read.current;
  if (!tokens) {
    return (
      <pre className="markdown-raw">
        <PlainText text={text} />
      </pre>
    );
  }
  return (
    <>
      <BlockList tokens={tokens} level={level} />
      {rest === "" ? null : <PlainText text={rest} />}
    </>
  );
}

interface BlockListProps {
  readonly tokens: readonly Token[];
  readonly depth?: number;
  readonly level?: number | undefined;
}

/** The blocks inside of a block. */
function BlockList({ tokens, depth = 0, level }: BlockListProps): ReactNode {
  return tokens.map((token, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no other name, and hold no state
    <Fragment key={i}>{blockOf(token as BlockToken, depth, level)}</Fragment>
  ));
}

type BlockToken =
  | Tokens.Space
  | Tokens.Def
  | Tokens.Code
  | Tokens.Heading
  | Tokens.Hr
  | Tokens.Blockquote
  | Tokens.List
  | Tokens.Checkbox
  | Tokens.HTML
  | Tokens.Table
  | Tokens.Paragraph
  | Footnote
  | Tokens.Text;

function blockOf(token: BlockToken, depth: number, level: number | undefined): ReactNode {
  if (depth > nestingMax) return <PlainText text={token.raw} />;
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "code":
      return <CodeBlock language={token.lang?.split(/[\s{]/, 1)[0] ?? ""} code={token.text} />;
    case "heading":
      return <Heading token={token} level={level} />;
    case "hr":
      return <hr />;
    case "blockquote":
      return (
        <blockquote dir="auto">
          <BlockList tokens={token.tokens} depth={depth + 1} />
        </blockquote>
      );
    case "list":
      return <MarkdownList list={token} depth={depth} />;
    case "checkbox":
      return <input type="checkbox" checked={token.checked} disabled aria-label={token.checked ? "Done" : "Not done"} />;
    case "html":
      return (
        <p dir="auto">
          <PlainText text={token.text.trimEnd()} />
        </p>
      );
    case "footnote":
      return (
        <p className="footnote" dir="auto">
          <span className="footnote-mark">{token.name}</span>
          <Inline tokens={token.tokens} />
        </p>
      );
    case "table":
      return <MarkdownTable table={token} />;
    case "paragraph":
      return (
        <p dir="auto">
          <Inline tokens={token.tokens} />
        </p>
      );
    default:
      return <Inline tokens={[token]} depth={depth} />;
  }
}

function Heading({ token, level }: { readonly token: Tokens.Heading; readonly level: number | undefined }): ReactNode {
  const words = <Inline tokens={token.tokens} />;
  const size = `markdown-heading size-${Math.min(4, token.depth)}`;
  // Headings in lists and quotes are no part of the outline.
  if (level === undefined) {
    return (
      <p className={size} dir="auto">
        {words}
      </p>
    );
  }
  const Level = `h${level}` as "h3" | "h4" | "h5" | "h6";
  return (
    <Level className={size} dir="auto">
      {words}
    </Level>
  );
}

function MarkdownList({ list, depth }: { readonly list: Tokens.List; readonly depth: number }): ReactNode {
  const items = list.items.map((item, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: items have no other name
    <ListItem key={i} item={item} depth={depth} />
  ));
  return list.ordered ? <ol {...(typeof list.start === "number" ? { start: list.start } : {})}>{items}</ol> : <ul>{items}</ul>;
}

const ListItem = memo(
  function ListItem({ item, depth }: { readonly item: Tokens.ListItem; readonly depth: number }): ReactNode {
    return (
      <li dir="auto" {...(item.task ? { "data-task": item.checked ? "done" : "open" } : {})}>
        <BlockList tokens={item.tokens} depth={depth + 1} />
      </li>
    );
  },
  // What is in brackets may be defined elsewhere.
  ({ item, depth }, now) => item.raw === now.item.raw && item.loose === now.item.loose && depth === now.depth && !item.raw.includes("["),
);
