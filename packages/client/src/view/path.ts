import type { ViewMessage } from "./session-view.ts";

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
