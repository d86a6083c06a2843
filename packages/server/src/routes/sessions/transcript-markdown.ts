import {
  type AssistantPart,
  type Message,
  pathOf,
  type ResultPart,
  type SessionSnapshot,
  type ToolResultMessage,
  type UserPart,
} from "@loopwright/core/protocol";

/**
 * The visible conversation as Markdown, a message at a time: texts, calls with arguments, and results. Thinking is left out. Files are named, not
 * contained.
 */
export function* transcriptMarkdown(snapshot: SessionSnapshot): Generator<string, void> {
  const { title = "Conversation", agent, createdAt } = snapshot;
  yield `# ${title.replaceAll(/\s+/g, " ")}\n\n${agent}, ${new Date(createdAt).toISOString()}\n`;
  for (const { message } of pathOf(snapshot)) yield `\n${sectionOf(message)}\n`;
}

/** A name for a file of the session, without an ending: letters and digits of any script, and hyphens; at most 60 characters. */
export function transcriptFileName({ title = "" }: Pick<SessionSnapshot, "title">): string {
  const words = [...title.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "-")].slice(0, 60).join("");
  return words.replaceAll(/^-|-$/g, "") || "conversation";
}

function sectionOf(message: Message): string {
  switch (message.role) {
    case "user":
      return `## User\n\n${bodyOf(message.content)}`;
    case "assistant": {
      const { model, stopReason, errorMessage = "unknown" } = message;
      const end = stopReason === "aborted" ? "\n\n_Stopped._" : stopReason === "error" ? `\n\n_Failed: ${errorMessage}_` : "";
      return `## Assistant${model === undefined ? "" : ` (${model})`}\n\n${bodyOf(message.content)}${end}`;
    }
    case "tool_result":
      return `### ${resultTitle(message)}\n\n${fenced(bodyOf(message.content))}`;
    case "notice":
      return `> ${message.text.replaceAll("\n", "\n> ")}`;
    default:
      return message satisfies never;
  }
}

const resultTitle = ({ toolName, toolCallId, isError }: ToolResultMessage): string =>
  `Result of \`${toolName ?? toolCallId}\`${isError ? " (failed)" : ""}`;

type Part = UserPart | AssistantPart | ResultPart;

function bodyOf(content: string | readonly Part[]): string {
  if (typeof content === "string") return content;
  return content
    .map(textOfPart)
    .filter((text) => text !== "")
    .join("\n\n");
}

function textOfPart(part: Part): string {
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
    case "thinking":
    case "opaque":
      return "";
    default:
      return part satisfies never;
  }
}

/** The text in a fence that is longer than any fence within it. */
function fenced(text: string, language = ""): string {
  let longest = 2;
  for (const [ticks] of text.matchAll(/`{3,}/g)) longest = Math.max(longest, ticks.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
