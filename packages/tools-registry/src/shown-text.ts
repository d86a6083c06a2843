const snippetWords = 100;
const [open, close] = ["<already_shown_to_the_user>", "</already_shown_to_the_user>"];

/** The text in an envelope: the model reads that the user has seen it already, and is not to repeat it. */
export const envelope = (text: string): string => `${open}\nThe user has seen this. Do not repeat it.\n${text}\n${close}`;

/** The text of an envelope; any other text as it is. */
export function opened(text: string): string {
  if (!text.startsWith(open)) return text;
  return text.slice(text.indexOf("\n", open.length + 1) + 1, text.lastIndexOf(`\n${close}`));
}

/** The first words of a text, by default 100. */
export function snippet(text: string, wordsMax: number = snippetWords): string {
  const words = text.split(/\s+/).filter((word) => word !== "");
  return words.length <= wordsMax ? words.join(" ") : `${words.slice(0, wordsMax).join(" ")} ...`;
}
