/** Marks are drawn by the browser from ranges: the document stays as it is. */
const markName = "found";
const rangesMax = 500;

/** Marks the words wherever they stand in an element; the first range within each row that has one, by the place of the row. */
export function markWords(root: HTMLElement, words: string): ReadonlyMap<number, Range> {
  const first = new Map<number, Range>();
  const ranges: Range[] = [];
  const sought = words.trim().toLowerCase();
  if (sought !== "") {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node && ranges.length < rangesMax; node = walker.nextNode()) {
      const text = node.nodeValue?.toLowerCase() ?? "";
      for (let at = text.indexOf(sought); at >= 0; at = text.indexOf(sought, at + sought.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + sought.length);
        ranges.push(range);
        const place = Number(node.parentElement?.closest<HTMLElement>("[data-index]")?.dataset["index"] ?? Number.NaN);
        if (!first.has(place)) first.set(place, range);
      }
    }
  }
  // Older browsers scroll to what is found without marking it.
  if ("highlights" in CSS) CSS.highlights.set(markName, new Highlight(...ranges));
  return first;
}

/** Takes the marks away. */
export function unmarkWords(): void {
  if ("highlights" in CSS) CSS.highlights.delete(markName);
}
