/**
 * The text of a block that is still being written, with the marks closed that are open at its end, and without the beginning of a mark
 * at the very end: `**bo` is shown as bold at once instead of jumping when the second pair of stars comes.
 */
export function completeInline(text: string): string {
  const lineStart = text.lastIndexOf("\n\n") + 1;
  let tail = text.slice(lineStart);
  const head = text.slice(0, lineStart);
  // An address that is not complete yet is not shown.
  tail = tail.replace(/!?\[([^\][\n]*)\]\([^()\s]*$/, "$1").replace(/(?<=^|\s)!?\[([^\][\n]*)$/, "$1");
  const ticks = tail.match(/`+/g) ?? [];
  if (ticks.length % 2 === 1) {
    const last = ticks.at(-1) ?? "`";
    return tail.endsWith(last) ? head + tail.slice(0, -last.length) : head + tail + last;
  }
  const words = tail.replaceAll(/(`+)[^`]*\1/g, "").replaceAll(/\\[\s\S]/g, "");
  for (const mark of ["**", "~~"]) {
    if ((words.split(mark).length - 1) % 2 === 0) continue;
    const bare = tail.trimEnd();
    return head + (bare.endsWith(mark) ? bare.slice(0, -mark.length) : bare.endsWith(mark.charAt(0)) ? bare + mark.charAt(0) : bare + mark);
  }
  return head + tail;
}
