/*
 * Owns: Markdown as Telegram shows it: a text, and which stretches of it are bold, code or a link. There is no markup that the vendor could refuse.
 */
import type { MessageEntity } from "grammy/types";
import { lexer, type Token, type Tokens } from "marked";

/** A text and its stretches, in UTF-16 units as Telegram counts. */
export interface MarkedText {
  readonly text: string;
  readonly entities: MessageEntity[];
}

type Style =
  | { readonly type: "bold" | "italic" | "strikethrough" | "code" | "blockquote" }
  | { readonly type: "pre"; readonly language?: string }
  | { readonly type: "text_link"; readonly url: string };

interface Writing {
  text: string;
  readonly entities: MessageEntity[];
}

/** The text of a Markdown text, with its stretches. */
export function markdownEntities(markdown: string): MarkedText {
  const writing: Writing = { text: "", entities: [] };
  writeBlocks(writing, lexer(markdown), "");
  const text = writing.text.trimEnd();
  const entities = writing.entities.flatMap((entity) => {
    const length = Math.min(entity.length, text.length - entity.offset);
    return length > 0 ? [{ ...entity, length }] : [];
  });
  return { text, entities };
}

function styled(writing: Writing, style: Style, write: () => void): void {
  const offset = writing.text.length;
  write();
  const length = writing.text.slice(offset).trimEnd().length;
  if (length > 0) writing.entities.push({ ...style, offset, length });
}

function writeBlocks(writing: Writing, tokens: readonly Token[], indent: string): void {
  for (const token of tokens) writeBlock(writing, token as Tokens.Generic, indent);
}

function endLine(writing: Writing, lines: 1 | 2): void {
  if (writing.text === "") return;
  writing.text = `${writing.text.replace(/\n+$/, "")}${"\n".repeat(lines)}`;
}

function writeBlock(writing: Writing, token: Tokens.Generic, indent: string): void {
  const tokens = token.tokens ?? [];
  switch (token.type) {
    case "space":
    case "def":
      break;
    case "heading":
      styled(writing, { type: "bold" }, () => writeInline(writing, tokens));
      endLine(writing, 2);
      break;
    case "code":
      styled(writing, { type: "pre", ...languageOf(token) }, () => {
        writing.text += String(token["text"]);
      });
      endLine(writing, 2);
      break;
    case "blockquote":
      // Quotes must not be within one another.
      if (indent === "") styled(writing, { type: "blockquote" }, () => writeBlocks(writing, tokens, "  "));
      else writeBlocks(writing, tokens, indent);
      endLine(writing, 2);
      break;
    case "list":
      writeList(writing, token as Tokens.List, indent);
      endLine(writing, indent === "" ? 2 : 1);
      break;
    case "table":
      styled(writing, { type: "pre" }, () => {
        writing.text += token.raw.trimEnd();
      });
      endLine(writing, 2);
      break;
    case "hr":
      writing.text += "———";
      endLine(writing, 2);
      break;
    case "text":
      if (tokens.length > 0) writeInline(writing, tokens);
      else writing.text += textOf(token);
      endLine(writing, 1);
      break;
    case "paragraph":
      writeInline(writing, tokens);
      endLine(writing, 2);
      break;
    default:
      writing.text += token.raw.trimEnd();
      endLine(writing, 2);
  }
}

/** The first word after the fence, where it is one. */
function languageOf(token: Tokens.Generic): { readonly language?: string } {
  const [language = ""] = /^[\w+#-]{1,30}/.exec(String(token["lang"] ?? "")) ?? [];
  return language === "" ? {} : { language };
}

function writeList(writing: Writing, { items, ordered, start }: Tokens.List, indent: string): void {
  for (const [index, item] of items.entries()) {
    const mark = ordered ? `${Number(start || 1) + index}.` : "•";
    const box = item.task ? (item.checked === true ? " ☑" : " ☐") : "";
    writing.text += `${indent}${mark}${box} `;
    const blocks = item.tokens.filter(({ type }) => type !== "checkbox");
    for (const block of blocks) {
      if (block.type === "list") endLine(writing, 1);
      writeBlock(writing, block as Tokens.Generic, `${indent}  `);
    }
    endLine(writing, 1);
  }
}

function writeInline(writing: Writing, tokens: readonly Token[]): void {
  for (const token of tokens as readonly Tokens.Generic[]) {
    const inner = token.tokens ?? [];
    const write = (): void => writeInline(writing, inner);
    if (token.type === "strong") styled(writing, { type: "bold" }, write);
    else if (token.type === "em") styled(writing, { type: "italic" }, write);
    else if (token.type === "del") styled(writing, { type: "strikethrough" }, write);
    else if (token.type === "br") writing.text += "\n";
    else if (token.type === "codespan")
      styled(writing, { type: "code" }, () => {
        writing.text += textOf(token);
      });
    else if (token.type === "link" && isWebAddress(token["href"]))
      styled(writing, { type: "text_link", url: String(token["href"]) }, write);
    else if (token.type === "html" || token.type === "image" || token.type === "link") writing.text += token.raw;
    else if (inner.length > 0) write();
    else writing.text += textOf(token);
  }
}

const textOf = (token: Tokens.Generic): string => (typeof token["text"] === "string" ? token["text"] : token.raw);

const isWebAddress = (href: unknown): boolean => typeof href === "string" && /^https?:\/\/[^\s]+$/i.test(href) && URL.canParse(href);
