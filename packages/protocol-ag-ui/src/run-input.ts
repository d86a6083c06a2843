import type { DeclaredTool, Json, JsonObject, MediaSource, UserMessage, UserPart } from "@loopwright/core/protocol";
import type { AgUiMessage } from "./ag-ui-event.ts";
import { refuse } from "./run-refused.ts";

/** The answer to an interrupt. */
export interface Resumed {
  readonly interruptId: string;
  readonly isAllowed: boolean;
  readonly note: string | undefined;
}

/** A result of a tool of the page. */
export interface PageResult {
  readonly toolCallId: string;
  readonly content: string;
  readonly isError: boolean;
}

/** What a page asks for. */
export interface RunInput {
  readonly threadId: string;
  readonly runId: string;
  readonly messages: readonly AgUiMessage[];
  readonly tools: readonly DeclaredTool[];
  readonly resumed: readonly Resumed[];
  /** Results after the last answer, where the messages end with them. */
  readonly results: readonly PageResult[];
  /** The user's last message. */
  readonly message: UserMessage | undefined;
  /** What the page shares with the agent. */
  readonly state: Json | undefined;
}

/** Longest id of a thread or a run. */
const idChars = 256;

/** Reads a `RunAgentInput`. @throws RunRefused */
export function readRunInput(body: Json | Uint8Array | undefined): RunInput {
  if (body instanceof Uint8Array || !isObject(body)) return refuse("Send a JSON object.");
  const messages = listOf(body["messages"], "messages").map((message, at) => messageOf(message, `messages[${at}]`));
  const lastAnswer = messages.findLastIndex(({ role }) => role === "assistant");
  const question = messages.findLastIndex(({ role }) => role === "user");
  const isAnswer = messages.at(-1)?.["role"] === "tool";
  return {
    threadId: idOf(body["threadId"], "threadId"),
    runId: idOf(body["runId"], "runId"),
    messages,
    state: body["state"],
    tools: listOf(body["tools"], "tools").map((tool, at) => toolOf(tool, `tools[${at}]`)),
    resumed: listOf(body["resume"], "resume").map((entry, at) => resumedOf(entry, `resume[${at}]`)),
    results: isAnswer ? messages.slice(lastAnswer + 1).flatMap(resultOf) : [],
    message:
      question < 0 ? undefined : { role: "user", content: contentOf(messages[question]?.["content"], `messages[${question}].content`) },
  };
}

function listOf(value: Json | undefined, at: string): readonly Json[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : refuse(`\`${at}\`: send a list.`);
}

function idOf(value: Json | undefined, at: string): string {
  if (typeof value === "string" && value !== "" && value.length <= idChars) return value;
  return refuse(`\`${at}\`: send a text of at most ${idChars} characters.`);
}

function messageOf(given: Json, at: string): AgUiMessage {
  if (!isObject(given) || typeof given["id"] !== "string" || typeof given["role"] !== "string")
    return refuse(`\`${at}\`: a message is an object with an \`id\` and a \`role\`.`);
  return { ...given, id: given["id"] };
}

function toolOf(given: Json, at: string): DeclaredTool {
  const { name, description = "", parameters = {} } = isObject(given) ? given : {};
  if (typeof name !== "string" || typeof description !== "string" || !isObject(parameters))
    return refuse(`\`${at}\`: a tool has a \`name\`, a \`description\` and \`parameters\`, a JSON schema.`);
  return { name, description, parameters: { type: "object", ...parameters } };
}

/** A person decides by `{ approved, reason? }` or by `true` and `false`; an interrupt that is cancelled denies the call. */
function resumedOf(given: Json, at: string): Resumed {
  const { interruptId, status, payload } = isObject(given) ? given : {};
  if (typeof interruptId !== "string") return refuse(`\`${at}.interruptId\`: name the interrupt.`);
  if (status === "cancelled") return { interruptId, isAllowed: false, note: undefined };
  const { approved, reason }: JsonObject = isObject(payload) ? payload : { approved: payload ?? null };
  if (status !== "resolved" || typeof approved !== "boolean")
    return refuse(`\`${at}.payload\`: send \`{ approved: true }\` or \`{ approved: false }\`.`);
  return { interruptId, isAllowed: approved, note: typeof reason === "string" ? reason : undefined };
}

function resultOf({ role, toolCallId, content, error }: AgUiMessage): readonly PageResult[] {
  if (role !== "tool" || typeof toolCallId !== "string") return [];
  const text = typeof content === "string" ? content : JSON.stringify(content ?? null);
  return [{ toolCallId, content: typeof error === "string" && text === "" ? error : text, isError: typeof error === "string" }];
}

function contentOf(content: Json | undefined, at: string): UserMessage["content"] {
  if (typeof content === "string" && content !== "") return content;
  if (!Array.isArray(content) || content.length === 0) return refuse(`\`${at}\`: send text, or a list of parts.`);
  return content.map((part, index) => partOf(part, `${at}[${index}]`));
}

function partOf(given: Json, at: string): UserPart {
  const { type, text, source } = isObject(given) ? given : {};
  if (type === "text" && typeof text === "string") return { type, text };
  if ((type !== "image" && type !== "document") || !isObject(source))
    return refuse(`\`${at}\`: use parts of the type \`text\`, \`image\` or \`document\`.`);
  const { mimeType } = source;
  const mediaType = typeof mimeType === "string" ? mimeType : type === "image" ? "image/*" : "application/octet-stream";
  const read =
    sourceOf(source) ?? refuse(`\`${at}.source\`: send \`data\` in base64, or a \`url\` of https or of a file that this server keeps.`);
  return { type: type === "image" ? "image" : "file", mediaType, source: read };
}

function sourceOf({ type, value }: JsonObject): MediaSource | undefined {
  if (typeof value !== "string") return undefined;
  if (type === "data") return { data: value };
  const blob = /^\/api\/files\/([^/?#]+)$/.exec(value)?.[1];
  if (blob !== undefined) return { blob: decodeURIComponent(blob) };
  return type === "url" && value.startsWith("https://") ? { url: value } : undefined;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
