/* What the model server states, known to its checks. */

const words = "the quick brown fox jumps over a lazy dog while seven grey geese sail past an old stone harbour at dawn".split(" ");

/** The pieces of a text of so many deltas. */
export const textPieces = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${index === 0 ? "" : " "}${words[index % words.length]}`);

/** The last piece of a final answer: how many messages the server was sent. */
export const seenPiece = (messages: number): string => ` [${messages} messages]`;

/** Arguments of the nth call (from 1) of a loop. */
export const lookupArguments = (call: number): { readonly item: number; readonly question: string } => ({
  item: call,
  question: `What is known of item ${call}?`,
});

/** What the tool of a loop answers. */
export const lookupResult = (item: number): string =>
  `Item ${item} lies in row ${item % 17}, shelf ${item % 5}; it was counted on a Monday and nothing was missing from the box.`;

/** The content that the tool call with large arguments writes. */
export function largeContent(bytes: number): string {
  const line = `${words.join(" ")}.\n`;
  return line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes);
}

/** Messages of a conversation that has gone on for a while, alternately of user and assistant. */
export const historyText = (index: number): string => `Message ${index}: ${words.join(" ")}; ${[...words].reverse().join(" ")}.`;
