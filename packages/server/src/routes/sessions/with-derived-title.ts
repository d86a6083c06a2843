import { derivedTitle, type SessionSnapshot, textOf } from "@loopwright/core/protocol";

/**
 * The snapshot with a title: the one that was given, else the beginning of the first user message with words, as in the list. Later messages do
 * not change it.
 */
export function withDerivedTitle(snapshot: SessionSnapshot): SessionSnapshot {
  if (snapshot.title !== undefined) return snapshot;
  for (const { message } of [...snapshot.messages, ...snapshot.waiting]) {
    const title = message?.role === "user" ? derivedTitle(textOf(message)) : "";
    if (title !== "") return { ...snapshot, title };
  }
  return snapshot;
}
