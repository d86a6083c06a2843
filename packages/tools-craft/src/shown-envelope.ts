const wordsMax = 100;

/** The text as the model reads what the user has seen already, so that it does not repeat it. */
export const shownEnvelope = (text: string): string =>
  `<already_shown_to_the_user>\nThe user has seen this. Do not repeat it.\n${text}\n</already_shown_to_the_user>`;

/** The first 100 words, for later runs. */
export function snippetOf(text: string): string {
  const words = text.split(/\s+/).filter((word) => word !== "");
  return words.length <= wordsMax ? text : `${words.slice(0, wordsMax).join(" ")} ...`;
}
