/** Parts of one question that can be answered apart from one another. */
export interface Topic {
  /** What is asked for, for example `height`; empty for a question that is no list. */
  readonly aspects: readonly string[];
  /** What it is about; the whole question where it is no list. */
  readonly subject: string;
}

const list = /\bthe (.+) of (?:the )?(.+?)\s*[.?!]*$/i;

/** Reads `What are the height and the colour of the tower?` as two aspects of one subject. */
export function topicOf(question: string): Topic {
  const [, aspects = "", subject = ""] = list.exec(question.trim()) ?? [];
  if (subject === "") return { aspects: [], subject: question.trim() };
  const parts = aspects.split(/,\s*(?:and\s+)?|\s+and\s+/i).map((part) => part.trim().replace(/^the /i, ""));
  return { aspects: parts.filter((part) => part !== ""), subject };
}

/** The topic as questions of their own, at most `countMax`, each with its share of the aspects. */
export function partsOf({ aspects, subject }: Topic, countMax: number): readonly string[] {
  if (aspects.length === 0) return [subject];
  const size = Math.ceil(aspects.length / countMax);
  return Array.from({ length: Math.ceil(aspects.length / size) }, (_, at) => {
    const own = aspects.slice(at * size, (at + 1) * size);
    return own.length === 1
      ? `What is the ${own[0]} of the ${subject}?`
      : `What are the ${own.slice(0, -1).join(", ")} and ${own.at(-1)} of the ${subject}?`;
  });
}

/** What to search for, one query for each aspect. */
export const queriesOf = ({ aspects, subject }: Topic): readonly string[] =>
  aspects.length === 0 ? [subject] : aspects.map((aspect) => `${aspect} of the ${subject}`);

const idle = new Set(
  "a an and are did do does for from had has have how in is it its of on or the there to was were what when where which who why with".split(
    " ",
  ),
);

/** The words of a text that bear its meaning. */
export const meaningOf = (text: string): readonly string[] => [
  ...new Set((text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !idle.has(word))),
];

/** Share of the words that the text holds, 0 to 1. */
export function shareIn(text: string, words: readonly string[]): number {
  const held = new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
  return words.length === 0 ? 0 : words.filter((word) => held.has(word)).length / words.length;
}
