import type { SessionView, ViewMessage } from "@loopwright/client";
import type { AssistantPart, ResultPart, UserPart } from "@loopwright/core/protocol";

/** The shown conversation as one Markdown text: messages, calls with arguments, and results, without thinking. */
export function markdownOf(view: Pick<SessionView, "title" | "agent" | "createdAt" | "path">): string {
  const head = [`# ${view.title ?? "Conversation"}`, `${view.agent}, ${new Date(view.createdAt).toISOString()}`];
  return `${[...head, ...view.path.map(sectionOf)].filter((text) => text !== "").join("\n\n")}\n`;
}

function sectionOf({ message }: ViewMessage): string {
  switch (message.role) {
    case "user":
      return `## User\n\n${bodyOf(message.content)}`;
    case "assistant": {
      const end =
        message.stopReason === "aborted"
          ? "\n\n_Stopped._"
          : message.stopReason === "error"
            ? `\n\n_Failed: ${message.errorMessage ?? "unknown"}_`
            : "";
      return `## Assistant${message.model ? ` (${message.model})` : ""}\n\n${bodyOf(message.content)}${end}`;
    }
    case "tool_result":
      return `### Result of \`${message.toolName ?? message.toolCallId}\`${message.isError ? " (failed)" : ""}\n\n${fenced(bodyOf(message.content))}`;
    case "notice":
      return `> ${message.text.replaceAll("\n", "\n> ")}`;
    default:
      return message satisfies never;
  }
}

function bodyOf(content: string | readonly (UserPart | AssistantPart | ResultPart)[]): string {
  if (typeof content === "string") return content;
  return content
    .map(textOfPart)
    .filter((text) => text !== "")
    .join("\n\n");
}

function textOfPart(part: UserPart | AssistantPart | ResultPart): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "tool_call":
      return `Call of \`${part.name}\`\n\n${fenced(part.argsText ?? JSON.stringify(part.args, null, 2), "json")}`;
    case "json":
      return JSON.stringify(part.value, null, 2);
    case "image":
      return `[image, ${part.mediaType}]`;
    case "file":
      return `[file ${part.name ?? ""}, ${part.mediaType}]`;
    default:
      return "";
  }
}

/** The text in a fence that is longer than any fence within it. */
function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map((fence) => fence.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** A file name from a title: letters and digits of any script, and hyphens; at most 60 characters. */
export function fileNameOf(title: string | undefined, ending: string): string {
  const words = (title ?? "")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .slice(0, 60)
    .replaceAll(/^-|-$/g, "");
  return `${words === "" ? "conversation" : words}.${ending}`;
}
