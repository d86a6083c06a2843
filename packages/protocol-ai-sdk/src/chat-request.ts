import type { Json, JsonObject, ToolResultMessage, UserMessage, UserPart } from "@loopwright/core/protocol";
import { refuse } from "./chat-refused.ts";

/** A message of a page: of an assistant, its parts as they came. */
export type PageMessage =
  | { readonly role: "user"; readonly id: string | undefined; readonly message: UserMessage }
  | { readonly role: "assistant"; readonly id: string; readonly parts: readonly JsonObject[] };

/** What a page asks for. */
export interface ChatRequest {
  readonly chatId: string;
  readonly agent: string | undefined;
  /** What stands before the last message, which the log knows better: only its ids are used. */
  readonly before: readonly PageMessage[];
  readonly last: PageMessage;
  readonly wants: "answer" | "edit" | "regenerate" | "continue";
}

/** Reads the body that the transports of the AI SDK send. @throws ChatRefused */
export function readChatRequest(body: Json | Uint8Array | undefined): ChatRequest {
  if (body instanceof Uint8Array || !isObject(body)) return refuse("Send a JSON object.");
  const { id, agent, messages, message, trigger = "submit-message", messageId } = body;
  if (typeof id !== "string" || id === "" || id.length > chatIdChars)
    return refuse(`\`id\`: name the chat, in at most ${chatIdChars} characters.`);
  if (agent !== undefined && typeof agent !== "string") return refuse("`agent`: use the name of an agent.");
  if (trigger !== "submit-message" && trigger !== "regenerate-message")
    return refuse("`trigger`: use `submit-message` or `regenerate-message`.");
  const given = messages === undefined && message !== undefined ? [message] : messages;
  if (!Array.isArray(given) || given.length === 0) return refuse("`messages`: send a list with at least one message.");
  const read = given.flatMap((one, at) => readMessage(one, `messages[${at}]`));
  const last = read.at(-1);
  if (!last || isSystem(given.at(-1))) return refuse("`messages`: the last message must be of the role `user` or `assistant`.");
  const common = { chatId: id, agent, before: read.slice(0, -1), last };
  if (trigger === "regenerate-message") return { ...common, wants: "regenerate" };
  if (last.role === "assistant") return { ...common, wants: "continue" };
  return { ...common, wants: typeof messageId === "string" ? "edit" : "answer" };
}

/** Longest id of a chat. */
const chatIdChars = 256;

function readMessage(given: Json, at: string): readonly PageMessage[] {
  if (!isObject(given)) return refuse(`\`${at}\`: a message is an object.`);
  const { id, role, parts } = given;
  if (role === "system") return [];
  if (!Array.isArray(parts) || !parts.every(isObject)) return refuse(`\`${at}.parts\`: send a list of parts.`);
  if (role === "user")
    return [{ role, id: typeof id === "string" ? id : undefined, message: { role, content: userContent(parts, `${at}.parts`) } }];
  if (role !== "assistant") return refuse(`\`${at}.role\`: use \`user\` or \`assistant\`.`);
  if (typeof id !== "string") return refuse(`\`${at}.id\`: the message of an assistant has an id.`);
  return [{ role, id, parts }];
}

const isSystem = (given: Json | undefined): boolean => isObject(given) && given["role"] === "system";

/** One text is a text. Data of the page's own is for the page. */
function userContent(parts: readonly JsonObject[], at: string): UserMessage["content"] {
  const read = parts.flatMap((part, index) => userPart(part, `${at}[${index}]`));
  const [first] = read;
  if (!first) return refuse(`\`${at}\`: a message needs a text or a file.`);
  return read.length === 1 && first.type === "text" ? first.text : read;
}

function userPart({ type, text, mediaType, url, filename }: JsonObject, at: string): readonly UserPart[] {
  if (typeof type === "string" && type.startsWith("data-")) return [];
  if (type === "text" && typeof text === "string") return [{ type, text }];
  if (type !== "file" || typeof mediaType !== "string" || typeof url !== "string")
    return refuse(`\`${at}\`: use parts of the type \`text\` or \`file\`.`);
  const source =
    sourceOf(url) ?? refuse(`\`${at}.url\`: send a \`data:\` address with base64, one of https, or one of a file that this server keeps.`);
  if (mediaType.startsWith("image/")) return [{ type: "image", mediaType, source }];
  return [{ type, mediaType, ...(typeof filename === "string" ? { name: filename } : {}), source }];
}

const dataUrl = /^data:[^,]*;base64,([A-Za-z0-9+/=]+)$/;
const keptFile = /^\/api\/files\/([^/?#]+)$/;

function sourceOf(
  url: string,
): UserPart extends infer Part ? (Part extends { readonly source: infer Source } ? Source : never) | undefined : never {
  const data = dataUrl.exec(url)?.[1];
  if (data !== undefined) return { data };
  const blob = keptFile.exec(url)?.[1];
  if (blob !== undefined) return { blob: decodeURIComponent(blob) };
  return url.startsWith("https://") ? { url } : undefined;
}

/** The answers to calls and to requests for approval that a message of a page has. */
export interface PageAnswers {
  /** By call key. */
  readonly results: ReadonlyMap<string, Pick<ToolResultMessage, "content" | "isError">>;
  readonly decisions: ReadonlyMap<string, { readonly isAllowed: boolean; readonly note: string | undefined }>;
  /** The last turn of the run that the message has calls of. */
  readonly turn: number;
}

export function answersOf({ id, parts }: Extract<PageMessage, { readonly role: "assistant" }>): PageAnswers {
  const results = new Map<string, Pick<ToolResultMessage, "content" | "isError">>();
  const decisions = new Map<string, { readonly isAllowed: boolean; readonly note: string | undefined }>();
  let turn = 0;
  for (const { toolCallId: callKey, state, output, errorText, approval } of parts) {
    if (typeof callKey !== "string") continue;
    const place = callKey.startsWith(`${id}.`) ? Number(callKey.slice(id.length + 1).split(".")[0]) : 0;
    if (Number.isSafeInteger(place)) turn = Math.max(turn, place);
    if (state === "output-available") results.set(callKey, { content: contentOf(output) });
    if (state === "output-error") results.set(callKey, { content: String(errorText ?? "The tool failed."), isError: true });
    if (state === "approval-responded" && isObject(approval) && typeof approval["approved"] === "boolean")
      decisions.set(callKey, {
        isAllowed: approval["approved"],
        note: typeof approval["reason"] === "string" ? approval["reason"] : undefined,
      });
  }
  return { results, decisions, turn };
}

const contentOf = (output: Json | undefined): ToolResultMessage["content"] =>
  typeof output === "string" ? output : [{ type: "json", value: output ?? null }];

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
