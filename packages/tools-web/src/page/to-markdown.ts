import { cleanText } from "./clean-text.ts";
import { absoluteUrl } from "./page-links.ts";
import { type PageNode, tagOf } from "./page-node.ts";

export interface MarkdownOptions {
  /** What relative links stand against. */
  readonly base: URL;
  /** Without marks of Markdown: the words alone. */
  readonly isPlain: boolean;
}

const blocks = new Set(
  "address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section summary table tbody td tfoot th thead tr ul".split(
    " ",
  ),
);

/** The node as Markdown. */
export function toMarkdown(node: PageNode, options: MarkdownOptions): string {
  const text = blocksOf(node, options).join("\n\n");
  return cleanText(text)
    .replace(/[ \t]+\n/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

const childrenOf = (node: PageNode): readonly PageNode[] => Array.from(node.childNodes);

/** The blocks of an element; what stands between them inline makes paragraphs. */
function blocksOf(node: PageNode, options: MarkdownOptions): string[] {
  const made: string[] = [];
  let line = "";
  const flush = (): void => {
    const paragraph = line
      .replace(/[^\S\n]+/g, " ")
      .replace(/ ?\n ?/g, "\n")
      .trim();
    if (paragraph !== "") made.push(paragraph);
    line = "";
  };
  for (const child of childrenOf(node)) {
    if (!blocks.has(tagOf(child)) && !holdsBlock(child)) {
      line += inline(child, options);
      continue;
    }
    flush();
    made.push(...blockOf(child, options).filter((block) => block.trim() !== ""));
  }
  flush();
  return made;
}

const holdsBlock = (node: PageNode): boolean => tagOf(node) !== "" && childrenOf(node).some((child) => blocks.has(tagOf(child)));

function blockOf(node: PageNode, options: MarkdownOptions): string[] {
  const tag = tagOf(node);
  const { isPlain } = options;
  if (/^h[1-6]$/.test(tag)) {
    const title = oneLine(inlineOf(node, options));
    return title === "" ? [] : [isPlain ? title : `${"#".repeat(Number(tag[1]))} ${title}`];
  }
  if (tag === "hr") return isPlain ? [] : ["---"];
  if (tag === "pre") return [preformatted(node.textContent ?? "", isPlain)];
  if (tag === "ul" || tag === "ol") return [listOf(node, tag === "ol", options)];
  if (tag === "table") return [tableOf(node, options)];
  if (tag === "blockquote" && !isPlain) return [prefixed(blocksOf(node, options).join("\n\n"), "> ", "> ")];
  return blocksOf(node, options);
}

function preformatted(text: string, isPlain: boolean): string {
  const code = text.replace(/^\n|\s+$/g, "");
  let fence = "```";
  for (const [ticks] of code.matchAll(/`{3,}/g)) if (ticks.length >= fence.length) fence = `${ticks}\``;
  return isPlain || code === "" ? code : `${fence}\n${code}\n${fence}`;
}

/** What stands in a list beside its items becomes an item too: no words are lost. */
function listOf(node: PageNode, isNumbered: boolean, options: MarkdownOptions): string {
  return filledChildrenOf(node)
    .map((item) => (item.nodeType === 3 ? oneLine(item.textContent ?? "") : blocksOf(item, options).join("\n")))
    .filter((item) => item !== "")
    .map((item, index) => {
      const mark = isNumbered ? `${index + 1}. ` : "- ";
      return prefixed(item, mark, " ".repeat(mark.length));
    })
    .join("\n");
}

/** Rows with their cells between bars; the first row is the head. */
function tableOf(node: PageNode, options: MarkdownOptions): string {
  const rows = rowsOf(node).map((row) => {
    const cells = tagOf(row) === "tr" ? filledChildrenOf(row) : [row];
    return cells.map((cell) => oneLine(cell.nodeType === 3 ? (cell.textContent ?? "") : blocksOf(cell, options).join(" ")));
  });
  const shown = rows.filter((row) => row.some((cell) => cell !== ""));
  if (options.isPlain) return shown.map((row) => row.join(" | ")).join("\n");
  const lines = shown.map((row) => `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`);
  if (lines.length > 1) lines.splice(1, 0, `|${" --- |".repeat(shown[0]?.length ?? 0)}`);
  return lines.join("\n");
}

function rowsOf(node: PageNode): PageNode[] {
  return filledChildrenOf(node).flatMap((child) => (/^t(head|body|foot)$/.test(tagOf(child)) ? rowsOf(child) : [child]));
}

/** Elements, and text that is not blank. */
const filledChildrenOf = (node: PageNode): readonly PageNode[] =>
  childrenOf(node).filter((child) => child.nodeType === 1 || (child.nodeType === 3 && child.textContent?.trim() !== ""));

const inlineOf = (node: PageNode, options: MarkdownOptions): string =>
  childrenOf(node)
    .map((child) => inline(child, options))
    .join("");

function inline(node: PageNode, options: MarkdownOptions): string {
  if (node.nodeType === 3) return (node.textContent ?? "").replace(/\s+/g, " ");
  const tag = tagOf(node);
  if (tag === "") return "";
  if (tag === "br") return "\n";
  const text = blocks.has(tag) ? ` ${inlineOf(node, options)} ` : inlineOf(node, options);
  if (options.isPlain || text.trim() === "") return text;
  if (tag === "a") return linkText(node, text, options);
  if (tag === "strong" || tag === "b") return marked(text, "**");
  if (tag === "em" || tag === "i") return marked(text, "*");
  return tag === "code" || tag === "kbd" || tag === "samp" ? marked(text, "`") : text;
}

function linkText(node: PageNode, text: string, { base }: MarkdownOptions): string {
  const url = absoluteUrl(node.getAttribute?.("href"), base);
  return url === undefined ? text : text.replace(/\S[\s\S]*\S|\S/, (words) => `[${oneLine(words)}](${url})`);
}

/** The mark around the words, not around the spaces at their ends. */
const marked = (text: string, mark: string): string => text.replace(/\S[\s\S]*\S|\S/, (words) => `${mark}${words}${mark}`);

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

const prefixed = (text: string, first: string, others: string): string =>
  text
    .split("\n")
    .map((line, index) => `${index === 0 ? first : others}${line}`)
    .join("\n");
