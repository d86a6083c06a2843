import type { MessageId } from "@loopwright/core/protocol";
import type { SessionView } from "./session-view.ts";

/** Every message that continues the same message as this one, itself included, oldest first. Empty for an unknown id. */
export function siblingsOf(view: SessionView, id: MessageId): readonly MessageId[] {
  const message = view.messages.get(id);
  return message ? (view.children.get(message.parent) ?? []) : [];
}

/** The versions of a message: its siblings of the same role, itself included. One for a message that was never edited or regenerated. */
export function versionsOf(view: SessionView, id: MessageId): readonly MessageId[] {
  const role = view.messages.get(id)?.message.role;
  return siblingsOf(view, id).filter((sibling) => view.messages.get(sibling)?.message.role === role);
}

/** The last message of the newest branch below a message: where the head moves when a person chooses this version. */
export function latestBelow(view: SessionView, id: MessageId): MessageId {
  let last = id;
  for (let next = view.children.get(last)?.at(-1); next !== undefined; next = view.children.get(last)?.at(-1)) last = next;
  return last;
}
