import { readLine, startsAtxHeading, startsFence } from "./markdown-line.ts";

/** A piece of a Markdown text that can be read by itself: a paragraph, a heading, a list, a table, a fence. */
export interface MarkdownBlock {
  /** Without the blank lines behind it. */
  readonly text: string;
  /** A fence at the margin: its text is code. */
  readonly isFence: boolean;
}

/** Cuts a text that grows, and reads only its end anew. */
export interface BlockSplitter {
  /** The blocks of the text. Those that can no longer change are the same objects as before. */
  split(text: string): readonly MarkdownBlock[];
}

/** What a block is as far as its own end is concerned. */
type Kind = "flow" | "list" | "indented" | "heading" | "fence" | "closed";

interface OpenBlock {
  readonly start: number;
  /** Behind the last line that is not blank. */
  end: number;
  kind: Kind;
  /** Of a list: the columns that what belongs to its last item is indented by. */
  content: number;
  isFence: boolean;
  /** The marks that would close the fence that is open. */
  fence: string | undefined;
  /** The line before ended a fence: no paragraph is open that could continue. */
  isBehindFence: boolean;
  hasBlankBehind: boolean;
}

/** The blocks of a whole text, in order. */
export function splitBlocks(text: string): readonly MarkdownBlock[] {
  return createBlockSplitter().split(text);
}

/**
 * A splitter for one text. Whether a line begins a block depends on the line and on what is before it, so a block stays as it is from
 * the moment the first line of the next one is complete: any chunking ends with the same blocks.
 */
export function createBlockSplitter(): BlockSplitter {
  let seen = "";
  let blocks: MarkdownBlock[] = [];
  /** Blocks that can no longer change, and where the next one begins. */
  let settled = 0;
  let from = 0;

  return {
    split(text) {
      if (text === seen) return blocks;
      if (!text.startsWith(seen)) {
        settled = 0;
        from = 0;
      }
      seen = text;
      blocks = blocks.slice(0, settled);
      let open: OpenBlock | undefined;
      let at = from;
      while (at < text.length) {
        const line = readLine(text, at);
        if (open && !line.isBlank) leaveItem(open, line.text);
        if (line.isBlank) {
          if (open) open.hasBlankBehind = open.fence === undefined;
          if (open?.kind === "fence") open.end = line.end;
        } else if (open && continues(open, line.text)) take(open, line.text, line.end);
        else {
          if (open) blocks.push(blockOf(text, open));
          open = begin(line.text, line.start, line.end);
          if (line.isComplete) {
            settled = blocks.length;
            from = line.start;
          }
        }
        at = line.next;
      }
      if (open) blocks.push(blockOf(text, open));
      return blocks;
    },
  };
}

function blockOf(text: string, { start, end, isFence }: OpenBlock): MarkdownBlock {
  return { text: text.slice(start, end), isFence };
}

function begin(line: string, start: number, end: number): OpenBlock {
  const fence = startsFence(line, 3);
  const block: OpenBlock = {
    start,
    end,
    kind: "flow",
    content: 0,
    isFence: fence !== undefined,
    fence,
    isBehindFence: false,
    hasBlankBehind: false,
  };
  if (fence !== undefined) block.kind = "fence";
  else if (startsAtxHeading(line)) block.kind = "heading";
  else if (indentOf(line) >= 4) block.kind = "indented";
  else if (isListItem(line)) enterList(block, line);
  return block;
}

/** A line at the margin ends the item of a list, and with it a fence that is open in it. */
function leaveItem(block: OpenBlock, line: string): void {
  if (block.kind !== "list" || indentOf(line) >= block.content) return;
  const hadFence = block.fence !== undefined || block.isBehindFence;
  block.fence = undefined;
  if (hadFence && !isListItem(line)) block.kind = "flow";
}

/** True when the line belongs to the block. Where that is not certain it does: a reader of the block knows better. */
function continues(block: OpenBlock, line: string): boolean {
  if (block.fence !== undefined) return true;
  if (block.kind === "heading" || block.kind === "closed") return false;
  const indent = indentOf(line);
  if (block.kind === "indented") return indent >= 4;
  if (block.hasBlankBehind) return indent >= 4 || (block.kind === "list" && (indent >= block.content || isListItem(line)));
  if (block.kind === "list" && indent >= block.content) return true;
  return startsFence(line, 3) === undefined && !startsAtxHeading(line);
}

function take(block: OpenBlock, line: string, end: number): void {
  block.end = end;
  block.hasBlankBehind = false;
  if (block.fence !== undefined) {
    if (!closesFence(line, block.fence, block.kind === "list")) return;
    block.fence = undefined;
    block.isBehindFence = true;
    if (block.kind === "fence") block.kind = "closed";
    return;
  }
  block.isBehindFence = false;
  if (block.kind === "list" && leavesList(line)) block.kind = "flow";
  else if (block.kind === "list" || isListItem(line)) enterList(block, line);
}

/** A quote or a rule at the margin: no item continues behind it. */
const leavesList = (line: string): boolean => /^ ?(?:>|(?:[-*_][ \t]*){3,}$)/.test(line);

function enterList(block: OpenBlock, line: string): void {
  if (block.kind !== "list" || indentOf(line) < block.content) block.content = contentOf(line) ?? block.content;
  block.kind = "list";
  block.fence = startsFence(line.replace(/^(?:\s*(?:[-*+]|\d{1,9}[.)])\s)+/, ""), Number.POSITIVE_INFINITY);
}

function closesFence(line: string, fence: string, atAnyIndent: boolean): boolean {
  const marks = line.trim();
  if (!atAnyIndent && indentOf(line) > 3) return false;
  return marks.length >= fence.length && marks === fence.charAt(0).repeat(marks.length);
}

const isListItem = (line: string): boolean => /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/.test(line);

/** Columns before the words of an item. */
function contentOf(line: string): number | undefined {
  const [, marker, space] = /^( {0,3}(?:[-*+]|\d{1,9}[.)]))(\s*)/.exec(line) ?? [];
  if (marker === undefined || space === undefined || !isListItem(line)) return undefined;
  return marker.length + (space.length > 4 || line.trim() === marker.trim() ? 1 : Math.max(1, space.length));
}

/** Columns of white space before the text; a tab goes to the next fourth column. */
function indentOf(line: string): number {
  let columns = 0;
  for (const sign of line) {
    if (sign === " ") columns++;
    else if (sign === "\t") columns += 4 - (columns % 4);
    else break;
  }
  return columns;
}
