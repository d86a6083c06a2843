import type { MarkdownBlock } from "./split-blocks.ts";

/** The highest level that a message may use: above it are the title of the page and the name of the speaker. */
const firstLevel = 3;
const lastLevel = 6;

/**
 * The level in the outline of the page of each block that is a heading, by place. No level is skipped on the way down, whatever the
 * author wrote, and a level never depends on what comes later.
 */
export function headingLevels(blocks: readonly MarkdownBlock[]): readonly (number | undefined)[] {
  const above: number[] = [];
  return blocks.map(({ text, isFence }) => {
    const depth = isFence ? undefined : /^ {0,3}(#{1,6})(?:\s|$)/.exec(text)?.[1]?.length;
    if (depth === undefined) return undefined;
    while (above.length > 0 && (above.at(-1) ?? 0) >= depth) above.pop();
    above.push(depth);
    return Math.min(lastLevel, firstLevel + above.length - 1);
  });
}
