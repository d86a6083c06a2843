/*
 * Owns: Markdown as Slack shows it: the elements of a `rich_text` block. There is no markup that a text could break out of, so none names people or channels.
 */
import { lexer, type Token, type Tokens } from "marked";
import { listLevelsMax } from "./slack-limits.ts";

interface Style {
  readonly bold?: true;
  readonly italic?: true;
  readonly strike?: true;
  readonly code?: true;
}

/** A stretch of a text. */
export interface RichWords {
  readonly type: "text" | "link";
  readonly text: string;
  readonly url?: string;
  readonly style?: Style;
}

interface RichSection {
  readonly type: "rich_text_section" | "rich_text_preformatted" | "rich_text_quote";
  readonly elements: RichWords[];
}

interface RichList {
  readonly type: "rich_text_list";
  readonly style: "bullet" | "ordered";
  readonly indent: number;
  readonly offset?: number;
  readonly elements: RichSection[];
}

/** A block as Slack takes it. */
export interface RichText {
  readonly type: "rich_text";
  readonly elements: (RichSection | RichList)[];
}

interface Writing {
  readonly elements: (RichSection | RichList)[];
  /** What is not in an element yet. */
  words: RichWords[];
}

/** Markdown as a block; a text without any is one of its characters. */
export function richText(markdown: string): RichText {
  const writing: Writing = { elements: [], words: [] };
  writeBlocks(writing, lexer(markdown), 0);
  endSection(writing);
  const elements = writing.elements.length > 0 ? writing.elements : [plainSection(markdown)];
  return { type: "rich_text", elements };
}

/** The text of a block alone. */
export const textOfBlock = ({ elements }: RichText): string =>
  elements
    .flatMap((element) => (element.type === "rich_text_list" ? element.elements : element))
    .map((section) => section.elements.map(({ text }) => text).join(""))
    .join("\n");

const plainSection = (text: string): RichSection => ({ type: "rich_text_section", elements: [{ type: "text", text }] });

function endSection(writing: Writing): void {
  const words = trimmed(writing.words);
  writing.words = [];
  if (words.length > 0) writing.elements.push({ type: "rich_text_section", elements: words });
}

/** Without the line ends at the end: an element begins a line. */
function trimmed(words: readonly RichWords[]): RichWords[] {
  const left = [...words];
  for (let last = left.pop(); last !== undefined; last = left.pop()) {
    const text = last.text.trimEnd();
    if (text === "") continue;
    return [...left, { ...last, text }];
  }
  return [];
}

/** Ends the line, and leaves one empty after a paragraph. */
function endLine(writing: Writing, lines: 1 | 2): void {
  const words = trimmed(writing.words);
  writing.words = words.length === 0 ? [] : [...words, { type: "text", text: "\n".repeat(lines) }];
}

function writeBlocks(writing: Writing, tokens: readonly Token[], level: number): void {
  for (const token of tokens) writeBlock(writing, token as Tokens.Generic, level);
}

function writeBlock(writing: Writing, token: Tokens.Generic, level: number): void {
  const tokens = token.tokens ?? [];
  switch (token.type) {
    case "space":
    case "def":
      break;
    case "heading":
      writeInline(writing, tokens, { style: { bold: true } });
      endLine(writing, 2);
      break;
    case "code":
      addElement(writing, "rich_text_preformatted", textOf(token));
      break;
    case "table":
      addElement(writing, "rich_text_preformatted", token.raw.trimEnd());
      break;
    case "blockquote": {
      const quoted: Writing = { elements: [], words: [] };
      writeQuoted(quoted, tokens);
      endSection(writing);
      const words = trimmed(quoted.words);
      if (words.length > 0) writing.elements.push({ type: "rich_text_quote", elements: words });
      break;
    }
    case "list":
      writeList(writing, token as Tokens.List, level);
      break;
    case "hr":
      add(writing, "———", plain);
      endLine(writing, 2);
      break;
    case "text":
      writeInline(writing, tokens.length > 0 ? tokens : [token], plain);
      endLine(writing, 1);
      break;
    case "paragraph":
      writeInline(writing, tokens, plain);
      endLine(writing, 2);
      break;
    default:
      add(writing, token.raw.trimEnd(), plain);
      endLine(writing, 2);
  }
}

function addElement(writing: Writing, type: RichSection["type"], text: string): void {
  endSection(writing);
  if (text.trim() !== "") writing.elements.push({ type, elements: [{ type: "text", text }] });
}

/** A list: its items one after the other, with what is within an item between them. */
function writeList(writing: Writing, { items, ordered, start }: Tokens.List, level: number): void {
  endSection(writing);
  const indent = Math.min(level, listLevelsMax);
  for (const [index, item] of items.entries()) {
    const offset = ordered ? Number(start || 1) - 1 + index : 0;
    const box = item.task ? (item.checked === true ? "☑ " : "☐ ") : "";
    const inner = item.tokens.filter(({ type }) => type !== "checkbox");
    const at = inner.findIndex(({ type }) => type !== "text" && type !== "paragraph");
    const [first, more] = at < 0 ? [inner, []] : [inner.slice(0, at), inner.slice(at)];
    add(writing, box, plain);
    writeBlocks(writing, first, level);
    const words = trimmed(writing.words);
    writing.words = [];
    const section: RichSection = { type: "rich_text_section", elements: words.length > 0 ? words : [{ type: "text", text: " " }] };
    const style = ordered ? "ordered" : "bullet";
    const before = writing.elements.at(-1);
    if (index > 0 && before?.type === "rich_text_list" && before.indent === indent && before.style === style) before.elements.push(section);
    else
      writing.elements.push({ type: "rich_text_list", style, indent, ...(ordered && offset > 0 ? { offset } : {}), elements: [section] });
    writeBlocks(writing, more, level + 1);
    endSection(writing);
  }
}

/** Blocks within a quote, which takes stretches of text alone. */
function writeQuoted(writing: Writing, tokens: readonly Token[]): void {
  for (const token of tokens as readonly Tokens.Generic[]) {
    if (token.type === "list") {
      const items: readonly Tokens.ListItem[] = token["items"];
      for (const item of items) {
        add(writing, "• ", plain);
        writeQuoted(writing, item.tokens);
        endLine(writing, 1);
      }
    } else if (token.type === "blockquote") writeQuoted(writing, token.tokens ?? []);
    else if (token.type === "code" || token.type === "table") {
      add(writing, token.type === "code" ? textOf(token) : token.raw.trimEnd(), code);
      endLine(writing, 1);
    } else writeBlock(writing, token, 0);
  }
}

/** How a stretch looks, and where it leads. */
interface Look {
  readonly style: Style;
  readonly url?: string;
}

const plain: Look = { style: {} };
const code: Look = { style: { code: true } };

function writeInline(writing: Writing, tokens: readonly Token[], look: Look): void {
  const { style } = look;
  for (const token of tokens as readonly Tokens.Generic[]) {
    const inner = token.tokens ?? [];
    if (token.type === "strong") writeInline(writing, inner, { ...look, style: { ...style, bold: true } });
    else if (token.type === "em") writeInline(writing, inner, { ...look, style: { ...style, italic: true } });
    else if (token.type === "del") writeInline(writing, inner, { ...look, style: { ...style, strike: true } });
    else if (token.type === "br") add(writing, "\n", look);
    else if (token.type === "codespan") add(writing, textOf(token), { ...look, style: { ...style, code: true } });
    else if (token.type === "link" && isWebAddress(token["href"])) writeInline(writing, inner, { style, url: String(token["href"]) });
    else if (token.type === "html" || token.type === "image" || token.type === "link") add(writing, token.raw, look);
    else if (inner.length > 0) writeInline(writing, inner, look);
    else add(writing, textOf(token), look);
  }
}

/** Adds a stretch; Slack refuses empty ones. */
function add(writing: Writing, text: string, { style, url }: Look): void {
  if (text === "") return;
  const styled = Object.keys(style).length > 0 ? { style } : {};
  writing.words.push(url === undefined ? { type: "text", text, ...styled } : { type: "link", url, text, ...styled });
}

const textOf = (token: Tokens.Generic): string => (typeof token["text"] === "string" ? token["text"] : token.raw);

const isWebAddress = (href: unknown): boolean => typeof href === "string" && /^https?:\/\/[^\s]+$/i.test(href) && URL.canParse(href);
