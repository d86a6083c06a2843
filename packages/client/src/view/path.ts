import type { MessageId } from "@loopwright/core/protocol";
import type { SessionView, ViewMessage } from "./session-view.ts";

/** The path from the root to a message, oldest first, results of one turn in call order. */
export function pathTo({ messages }: Pick<SessionView, "messages">, head: MessageId | null): ViewMessage[] {
  const backwards: ViewMessage[] = [];
  for (let message = head === null ? undefined : messages.get(head); message; ) {
    backwards.push(message);
    message = message.parent === null ? undefined : messages.get(message.parent);
  }
  const path: ViewMessage[] = [];
  for (const message of backwards.reverse()) pushInCallOrder(path, message);
  return path;
}

/** Adds the next message; a result goes before those of later calls. */
export function pushInCallOrder(path: ViewMessage[], added: ViewMessage): void {
  const order = orderOf(added);
  let place = path.length;
  while (order !== undefined && place > 0 && (orderOf(path[place - 1]) ?? -1) > order) place -= 1;
  path.splice(place, 0, added);
}

/** Of a result: the index that ends its call key; results without a key keep their place. */
function orderOf(entry: ViewMessage | undefined): number | undefined {
  const message = entry?.message;
  if (message?.role !== "tool_result") return undefined;
  return message.callKey ? callIndex(message.callKey) : 0;
}

/** Place of a call among those of its turn. */
export const callIndex = (callKey: string): number => Number(callKey.slice(callKey.lastIndexOf(".") + 1));
