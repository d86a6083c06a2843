import type { SessionView } from "@loopwright/client";
import { textOf } from "@loopwright/core/protocol";
import { inertText } from "../conversation/markdown/plain-text.tsx";

const titleMax = 80;

/** The title of a session, fit to be shown anywhere: as given, else the beginning of what was said first. */
export function titleOf({ title, path }: Pick<SessionView, "title" | "path">): string {
  if (title !== undefined && title !== "") return inertText(title);
  const first = path.find(({ message }) => message.role === "user");
  const words = first ? inertText(textOf(first.message).replaceAll(/\s+/g, " ").trim()) : "";
  if (words === "") return "New conversation";
  return words.length <= titleMax ? words : `${words.slice(0, titleMax).trimEnd()}…`;
}
