import { startsFence } from "./markdown-line.ts";

/** The code in a fence. */
export interface Fence {
  /** First word behind the marks; empty where there is none. */
  readonly language: string;
  readonly code: string;
}

/** What a fenced block holds, also while its end is still to come. */
export function fenceOf(block: string): Fence {
  const feed = block.indexOf("\n");
  const head = feed < 0 ? block : block.slice(0, feed);
  const marks = startsFence(head, 3) ?? "```";
  const language = head.trim().slice(marks.length).trim().split(/[\s{]/, 1)[0] ?? "";
  if (feed < 0) return { language, code: "" };
  const indent = head.length - head.trimStart().length;
  const lines = block.slice(feed + 1).split("\n");
  const last = lines.at(-1)?.trim() ?? "";
  if (last.length >= marks.length && last === marks.charAt(0).repeat(last.length)) lines.pop();
  const code = indent === 0 ? lines : lines.map((line) => line.replace(new RegExp(`^ {0,${indent}}`), ""));
  return { language, code: code.join("\n") };
}
