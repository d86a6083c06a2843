import type { Message, ToolResultMessage } from "../message/message.ts";
import { textOf } from "../message/message.ts";

/** Characters that a token stands for at the least and at the most: text outside these bounds is rare. */
const charactersPerToken = { usual: 4, most: 8 };
/** Results shorter than this are never cut. */
const resultKeptMin = 2_000;

/**
 * The messages so that they are likely to fit the window: the largest tool results are cut, oldest first among equals. `undefined` when
 * they cannot fit whatever the tokenizer: a vendor would refuse them. Unknown window: unchanged.
 */
export function fitWindow(
  messages: readonly Message[],
  textLength: number,
  contextTokens: number | undefined,
): readonly Message[] | undefined {
  if (contextTokens === undefined || textLength <= contextTokens * charactersPerToken.usual) return messages;
  const fitted = [...messages];
  let left = textLength;
  for (const place of largestResults(messages)) {
    if (left <= contextTokens * charactersPerToken.usual) break;
    const result = messages[place] as ToolResultMessage;
    const text = textOf(result);
    const note = `\n[${text.length - resultKeptMin} characters left out to fit the model's window]`;
    fitted[place] = { ...result, content: text.slice(0, resultKeptMin) + note };
    left -= text.length - resultKeptMin - note.length;
  }
  return left <= contextTokens * charactersPerToken.most ? fitted : undefined;
}

function largestResults(messages: readonly Message[]): readonly number[] {
  const sizes = messages.flatMap((message, place) => {
    const size = message.role === "tool_result" ? textOf(message).length : 0;
    return size > resultKeptMin ? [{ place, size }] : [];
  });
  return sizes.sort((a, b) => b.size - a.size || a.place - b.place).map(({ place }) => place);
}
