import type { Token, Tokens } from "marked";
import { breakLines, wrapLines } from "../terminal/lines.ts";
import type { Style } from "../terminal/style.ts";
import type { Frame } from "./frame.ts";
import { inlineText } from "./inline-text.ts";
import { tableLines } from "./table-lines.ts";

/** How far code stands in: nothing but spaces, so that it can be copied. */
const codeIndent = "  ";

/** Blocks as lines with an empty line between them. */
function blocksLines(tokens: readonly Token[], frame: Frame): readonly string[] {
  const lines: string[] = [];
  for (const token of tokens) {
    const block = blockLines(token, frame);
    if (block.length > 0 && lines.length > 0) lines.push("");
    lines.push(...block);
  }
  return lines;
}

/** One block as lines; none for white space and link definitions. */
export function blockLines(token: Token, frame: Frame): readonly string[] {
  const { style, width } = frame;
  switch (token.type) {
    case "space":
    case "def":
      return [];
    case "heading":
      return headingLines(token as Tokens.Heading, frame);
    case "hr":
      return [style.dim("─".repeat(Math.min(width, 20)))];
    case "code":
      return codeLines(token as Tokens.Code, frame);
    case "blockquote": {
      const inner = blocksLines((token as Tokens.Blockquote).tokens, { style, width: width - 2 });
      return inner.map((line) => style.dim("│ ") + line);
    }
    case "list":
      return listLines(token as Tokens.List, frame);
    case "table":
      return tableLines(token as Tokens.Table, frame);
    case "html":
      return token.raw
        .trimEnd()
        .split("\n")
        .flatMap((line) => breakLines(line, width));
    default: {
      const tokens = "tokens" in token && token.tokens ? token.tokens : [{ type: "text", raw: token.raw, text: token.raw } as Token];
      return wrapLines(inlineText(tokens, style), width);
    }
  }
}

function headingLines({ depth, tokens }: Tokens.Heading, { style, width }: Frame): readonly string[] {
  const paint = depth === 1 ? (text: string): string => style.bold(style.underline(text)) : style.bold;
  const words = inlineText(tokens, style, paint);
  return wrapLines(style.color ? words : `${"#".repeat(depth)} ${words}`, width);
}

/** What stands above a code block: its language, where one is named. */
export function codeLabel(language: string | undefined, style: Style): readonly string[] {
  return language ? [style.dim(codeIndent + language)] : [];
}

/** One line of code, broken where it is too long. */
export function codeLine(line: string, { style, width }: Frame): readonly string[] {
  if (line.trim() === "") return [""];
  return breakLines(line, width - codeIndent.length).map((piece) => codeIndent + style.cyan(piece));
}

function codeLines({ text, lang }: Tokens.Code, frame: Frame): readonly string[] {
  return [...codeLabel(lang?.split(/\s/)[0], frame.style), ...text.split("\n").flatMap((line) => codeLine(line, frame))];
}

function listLines(list: Tokens.List, frame: Frame): readonly string[] {
  const first = typeof list.start === "number" ? list.start : 1;
  const last = `${first + list.items.length - 1}`.length;
  return list.items.flatMap((item, place) => {
    const bullet = list.ordered ? `${`${first + place}`.padStart(last)}. ` : "• ";
    const box = item.task ? (item.checked ? "[x] " : "[ ] ") : "";
    const mark = bullet + box;
    const tokens = item.tokens.filter((token) => token.type !== "checkbox");
    const frameInside = { style: frame.style, width: Math.max(8, frame.width - mark.length) };
    const inner = list.loose ? blocksLines(tokens, frameInside) : tokens.flatMap((token) => blockLines(token, frameInside));
    const lines = (inner.length > 0 ? inner : [""]).map(
      (line, at) => (at === 0 ? mark : line === "" ? "" : " ".repeat(mark.length)) + line,
    );
    return list.loose && place < list.items.length - 1 ? [...lines, ""] : lines;
  });
}
