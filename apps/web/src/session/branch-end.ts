import type { SessionView } from "@loopwright/client";
import type { MessageId } from "@loopwright/core/protocol";

/** The newest end of the branch that goes on with `id`: at every fork the message that came last. */
export function branchEnd(children: SessionView["children"], id: MessageId): MessageId {
  let end = id;
  // As many steps as there are messages: a circle that a broken log might hold ends too.
  for (let steps = 0; steps <= children.size; steps++) {
    const next = children.get(end)?.at(-1);
    if (next === undefined) return end;
    end = next;
  }
  return end;
}

/** The user message that `id` answers, or `id` where it is one; `undefined` before the first. */
export function questionOf(messages: SessionView["messages"], id: MessageId): MessageId | undefined {
  let message = messages.get(id);
  for (let steps = 0; message !== undefined && steps <= messages.size; steps++) {
    if (message.message.role === "user") return message.id;
    message = message.parent === null ? undefined : messages.get(message.parent);
  }
  return undefined;
}
