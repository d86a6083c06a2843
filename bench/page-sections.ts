/** A part of a page: its heading of the second level, and what stands below. */
export interface Section {
  readonly title: string;
  readonly text: string;
}

const mark = "## ";

/** The sections of a page, without what stands above the first. */
export function sectionsOf(page: string): readonly Section[] {
  return page
    .split(/^(?=## )/m)
    .filter((part) => part.startsWith(mark))
    .map((part) => {
      const end = part.indexOf("\n");
      return { title: part.slice(mark.length, end), text: part.slice(end + 1).trim() };
    });
}

/** The sections of `kept` with those of `made` in their places; a new one comes last. */
export function mergeSections(kept: readonly Section[], made: readonly Section[]): readonly Section[] {
  const changed = kept.map((section) => made.find(({ title }) => title === section.title) ?? section);
  return [...changed, ...made.filter(({ title }) => kept.every((section) => section.title !== title))];
}

export const sectionText = ({ title, text }: Section): string => `${mark}${title}\n\n${text.trim()}\n`;
