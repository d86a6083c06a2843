import type { MessageId } from "@loopwright/core/protocol";
import type { SessionView } from "./session-view.ts";

/** Every message that continues the same message as this one, itself included, oldest first. Empty for an unknown id. */
export function siblingsOf(view: SessionView, id: MessageId): readonly MessageId[] {
  const message = view.messages.get(id);
  return message ? (view.children.get(message.parent) ?? []) : [];
}

/** The versions of a message: its siblings that the same side said. One for a message that was never edited or answered again. */
export function versionsOf(view: SessionView, id: MessageId): readonly MessageId[] {
  const role = view.messages.get(id)?.message.role;
  return siblingsOf(view, id).filter((sibling) => view.messages.get(sibling)?.message.role === role);
}

/** The end of the newest conversation that goes on from a message: where the head goes when people choose this version. */
export function latestBelow(view: SessionView, id: MessageId): MessageId {
  let last = id;
  for (let next = view.children.get(last)?.at(-1); next !== undefined; next = view.children.get(last)?.at(-1)) last = next;
  return last;
}
