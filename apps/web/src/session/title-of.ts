import type { SessionView } from "@loopwright/client";
import { textOf } from "@loopwright/core/protocol";

const titleMax = 80;

/** The title of a session: as given, else the beginning of what was said first. */
export function titleOf({ title, path }: Pick<SessionView, "title" | "path">): string {
  if (title !== undefined && title !== "") return title;
  const first = path.find(({ message }) => message.role === "user");
  const words = first ? textOf(first.message).replaceAll(/\s+/g, " ").trim() : "";
  if (words === "") return "New conversation";
  return words.length <= titleMax ? words : `${words.slice(0, titleMax).trimEnd()}…`;
}
