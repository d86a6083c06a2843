import type { SessionView } from "@loopwright/client";
import type { MessageId } from "@loopwright/core/protocol";

/** The id of the user message that message `id` answers, or `id` itself if it is a user message; `undefined` before the first one. */
export function questionOf(messages: SessionView["messages"], id: MessageId): MessageId | undefined {
  let message = messages.get(id);
  // Takes at most as many steps as there are messages, so that a cycle in a damaged log ends.
  for (let steps = 0; message !== undefined && steps <= messages.size; steps++) {
    if (message.message.role === "user") return message.id;
    message = message.parent === null ? undefined : messages.get(message.parent);
  }
  return undefined;
}
