import type { Token, Tokens } from "marked";
import type { Style } from "../terminal/style.ts";

type Paint = (text: string) => string;

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", "#39": "'", nbsp: "\u00a0" };

/** Named entities that models write; anything else stays as written. */
function decode(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|apos|#39|nbsp);/g, (_, name: string) => entities[name] ?? "");
}

/** Paints word by word: a line break between words then never stands inside a style. */
function paintWords(text: string, paint: Paint): string {
  return text.replace(/[^ \n]+/g, (word) => paint(word));
}

/** Inline Markdown as one string with styles; line breaks of the source become spaces, hard breaks stay. */
export function inlineText(tokens: readonly Token[], style: Style, paint: Paint = (text) => text): string {
  return tokens.map((token) => pieceOf(token, style, paint)).join("");
}

function pieceOf(token: Token, style: Style, paint: Paint): string {
  const inner = (more: Paint): string => inlineText(childrenOf(token), style, (text) => paint(more(text)));
  switch (token.type) {
    case "strong":
      return inner(style.bold);
    case "em":
      return inner(style.italic);
    case "del":
      return inner(style.strike);
    case "codespan": {
      const { text } = token as Tokens.Codespan;
      return paintWords(style.color ? text : `\`${text}\``, (word) => paint(style.cyan(word)));
    }
    case "br":
      return "\n";
    case "link":
      return linkText(token as Tokens.Link, inner(style.underline), style);
    case "image": {
      const { text, href } = token as Tokens.Image;
      return paintWords(`[image: ${text || "no description"}] (${href})`, style.dim);
    }
    case "escape":
      return paintWords((token as Tokens.Escape).text, paint);
    case "html":
      return paintWords(token.raw, paint);
    default: {
      const children = childrenOf(token);
      if (children.length > 0) return inlineText(children, style, paint);
      const text = "text" in token && typeof token.text === "string" ? token.text : token.raw;
      return paintWords(decode(text).replaceAll("\n", " "), paint);
    }
  }
}

/** The words of the link and, where they do not contain it, its address: a terminal must not hide where a link leads. */
function linkText(link: Tokens.Link, words: string, style: Style): string {
  const address = link.href.replace(/^mailto:/, "");
  return link.text === address || link.text === link.href ? words : `${words} ${paintWords(`(${link.href})`, style.dim)}`;
}

function childrenOf(token: Token): readonly Token[] {
  return "tokens" in token && Array.isArray(token.tokens) ? token.tokens : [];
}
