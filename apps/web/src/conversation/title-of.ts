import type { SessionView } from "@loopwright/client";
import { type Message, textOf } from "@loopwright/core/protocol";
import { inertText } from "./markdown/plain-text.tsx";

const titleMax = 80;

/** The title of a session, fit to be shown anywhere: as given, else the beginning of the first message, as in the list: editing changes nothing. */
export function titleOf({ title, messages }: Pick<SessionView, "title" | "messages">): string {
  if (title !== undefined && title !== "") return inertText(title);
  const first = firstOfUser(messages);
  const words = first ? inertText(textOf(first).replaceAll(/\s+/g, " ").trim()) : "";
  if (words === "") return "New conversation";
  return words.length <= titleMax ? words : `${words.slice(0, titleMax).trimEnd()}…`;
}

function firstOfUser(messages: SessionView["messages"]): Message | undefined {
  for (const { message } of messages.values()) if (message.role === "user") return message;
  return undefined;
}
