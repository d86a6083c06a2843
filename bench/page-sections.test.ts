import { expect, it } from "vitest";
import { mergeSections, sectionsOf, sectionText } from "./page-sections.ts";

const page = "# A page\n\nWords.\n\n## One\n\nfirst\n\n### Deeper\n\nstill first\n\n## Two\n\nsecond\n";

it("takes a page apart at its headings of the second level and puts it together again", () => {
  const sections = sectionsOf(page);
  expect(sections.map(({ title }) => title)).toEqual(["One", "Two"]);
  expect(`# A page\n\nWords.\n\n${sections.map(sectionText).join("\n")}`).toBe(page);
});

it("replaces a section that was made anew, keeps the others, and adds new ones last", () => {
  const merged = mergeSections(sectionsOf(page), [
    { title: "Three", text: "third" },
    { title: "Two", text: "changed" },
  ]);
  expect(merged.map(({ title, text }) => [title, text.slice(0, 7)])).toEqual([
    ["One", "first\n\n"],
    ["Two", "changed"],
    ["Three", "third"],
  ]);
});
