import type { SessionView } from "@loopwright/client";
import type { MessageId } from "@loopwright/core/protocol";

/** The user message that `id` answers, or `id` where it is one; `undefined` before the first. */
export function questionOf(messages: SessionView["messages"], id: MessageId): MessageId | undefined {
  let message = messages.get(id);
  // As many steps as there are messages: a circle that a broken log might hold ends too.
  for (let steps = 0; message !== undefined && steps <= messages.size; steps++) {
    if (message.message.role === "user") return message.id;
    message = message.parent === null ? undefined : messages.get(message.parent);
  }
  return undefined;
}
