import type { Token, Tokens } from "marked";
import { Fragment, type ReactNode, use } from "react";
import { decodeEntities } from "./decode-entities.ts";
import type { FootnoteMark } from "./footnotes.ts";
import { LinkContext } from "./link-context.ts";
import { MarkdownPicture } from "./markdown-picture.tsx";
import { inertText, PlainText } from "./plain-text.tsx";
import { safeLink } from "./safe-link.ts";

/** Deeper nesting is shown as it was written. */
export const nestingMax = 24;

export interface InlineProps {
  readonly tokens: readonly Token[];
  readonly depth?: number;
}

/** The words of a block. Nothing but elements made here: HTML of the author is text. */
export function Inline({ tokens, depth = 0 }: InlineProps): ReactNode {
  return tokens.map((token, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: words have no other name, and hold no state
    <Fragment key={i}>{inlineOf(token as InlineToken, depth)}</Fragment>
  ));
}

type InlineToken =
  | Tokens.Text
  | Tokens.Escape
  | Tokens.Strong
  | Tokens.Em
  | Tokens.Del
  | Tokens.Codespan
  | Tokens.Br
  | Tokens.Link
  | Tokens.Image
  | FootnoteMark
  | Tokens.Tag;

function inlineOf(token: InlineToken, depth: number): ReactNode {
  if (depth > nestingMax) return <PlainText text={token.raw} />;
  switch (token.type) {
    case "strong":
      return (
        <strong>
          <Inline tokens={token.tokens} depth={depth + 1} />
        </strong>
      );
    case "em":
      return (
        <em>
          <Inline tokens={token.tokens} depth={depth + 1} />
        </em>
      );
    case "del":
      return (
        <del>
          <Inline tokens={token.tokens} depth={depth + 1} />
        </del>
      );
    case "codespan":
      return (
        <code dir="ltr">
          <PlainText text={token.text} />
        </code>
      );
    case "br":
      return <br />;
    case "link":
      return <Anchor token={token} depth={depth} />;
    case "image":
      return <MarkdownPicture address={token.href} text={decodeEntities(token.text)} />;
    case "footnote_mark":
      return (
        <sup className="footnote-mark">
          <span className="visually-hidden">Note </span>
          {token.name}
        </sup>
      );
    case "html":
      return /^<br\s*\/?>$/i.test(token.raw) ? <br /> : <PlainText text={token.raw} />;
    case "text":
      return token.tokens ? <Inline tokens={token.tokens} depth={depth + 1} /> : <PlainText text={decodeEntities(token.text)} />;
    case "escape":
      return <PlainText text={decodeEntities(token.text)} />;
    default:
      // Tokens of a newer parser: as they were written.
      return <PlainText text={(token satisfies never as Token).raw} />;
  }
}

function Anchor({ token, depth }: { readonly token: Tokens.Link; readonly depth: number }): ReactNode {
  const words = <Inline tokens={token.tokens} depth={depth + 1} />;
  const drawn = use(LinkContext)(token.href, words);
  if (drawn !== undefined) return drawn;
  const address = safeLink(token.href);
  // A link that is refused is still shown: its words and its address.
  if (address === undefined) return token.text === token.href ? words : <span title={inertText(token.href)}>{words}</span>;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer nofollow" title={address}>
      {words}
    </a>
  );
}
