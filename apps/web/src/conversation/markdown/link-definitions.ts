import type { Links } from "marked";
import type { MarkdownBlock } from "./split-blocks.ts";

export const noLinks: Links = Object.create(null) as Links;

const definition = /^ {0,3}\[(?!\^)([^\]\\]{1,200})\]:[ \t]*<?([^\s<>]+)>?(?:[ \t]+["'(](.*)["')])?[ \t]*$/gm;

/** The addresses that `[name]: address` defines anywhere in the text; `before` when they are the same as then. */
export function linkDefinitions(blocks: readonly MarkdownBlock[], before: Links): Links {
  let found: Links | undefined;
  for (const { text, isFence } of blocks) {
    if (isFence || !text.startsWith("[")) continue;
    for (const [, name = "", href = "", title] of text.matchAll(definition)) {
      found ??= Object.create(null) as Links;
      const key = name.toLowerCase().replaceAll(/\s+/g, " ");
      if (!(key in found)) found[key] = { href, title: title ?? "" };
    }
  }
  const now = found ?? noLinks;
  return JSON.stringify(now) === JSON.stringify(before) ? before : now;
}
