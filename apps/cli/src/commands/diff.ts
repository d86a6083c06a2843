import type { Difference, PlacedMessage } from "@loopwright/replay";
import { exitCodes } from "../exit-code.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { oneLine } from "../terminal/neutralise.ts";
import { fileOf, withRecorded } from "./recorded-session.ts";
import { print, type SessionFlags, withShelf } from "./sessions.ts";

/** Prints the first message in which two sessions differ; the exit code is 1 if they do. @throws AgentError SESSION_NOT_FOUND, INPUT_INVALID, CONFIG_INVALID */
export async function diff([one, other]: readonly [string, string], flags: SessionFlags): Promise<number> {
  const { firstDifference } = await import("@loopwright/replay");
  const [first, second] = [await messagesOf(one, flags), await messagesOf(other, flags)];
  const difference = firstDifference(first, second);
  if (flags.json) print(jsonLine({ isEqual: !difference, ...difference }));
  else if (difference) for (const line of linesOf(difference)) print(line);
  else print(`The conversations are equal: ${first.length} messages.`);
  return difference ? exitCodes.failed : exitCodes.ok;
}

async function messagesOf(typed: string, flags: SessionFlags): Promise<readonly PlacedMessage[]> {
  const file = await fileOf(typed);
  if (file) return withRecorded(file, ({ messages, messageIds }) => messages.map((message, at) => ({ id: messageIds[at] ?? "", message })));
  let messages: readonly PlacedMessage[] = [];
  await withShelf(flags, async (shelf) => {
    ({ messages } = await shelf.read(typed));
    return exitCodes.ok;
  });
  return messages;
}

function* linesOf({ place, one, other, members }: Difference): Generator<string> {
  yield `The conversations differ at message ${place + 1}${members.length > 0 ? `: ${oneLine(members.join(", "), 200)}` : ""}.`;
  yield `- ${one ? shown(one) : "(it has ended)"}`;
  yield `+ ${other ? shown(other) : "(it has ended)"}`;
}

const shown = ({ id, message }: PlacedMessage): string =>
  oneLine(`[${id}] ${message.role}: ${JSON.stringify("content" in message ? message.content : message)}`, 600);
