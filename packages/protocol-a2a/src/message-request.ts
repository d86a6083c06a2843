import type { Json, JsonObject, MediaSource, UserMessage, UserPart } from "@loopwright/core/protocol";
import { isObject, refuse } from "./json-rpc.ts";

/** The decision on a call that needs approval. */
export interface GivenDecision {
  readonly callKey: string;
  readonly isAllowed: boolean;
  readonly note: string | undefined;
  /** Of the arguments that the person has seen. */
  readonly argsDigest: string | undefined;
}

/** The result of a call that waits for the client. */
export interface GivenResult {
  readonly callKey: string;
  readonly output: string;
  readonly isError: boolean;
}

/** What a client sends to an agent. */
export interface MessageRequest {
  readonly messageId: string;
  readonly contextId: string | undefined;
  readonly taskId: string | undefined;
  /** Absent: the message has answers alone. */
  readonly message: UserMessage | undefined;
  readonly decisions: readonly GivenDecision[];
  readonly results: readonly GivenResult[];
  readonly returnsAtOnce: boolean;
  readonly historyLength: number | undefined;
}

/** Longest id that is taken. */
const idChars = 256;

/** Reads the parameters of `SendMessage` and `SendStreamingMessage`, of 0.3 and 1.0: their parts differ in form alone. @throws RpcRefused */
export function readMessageRequest({ message, configuration }: JsonObject): MessageRequest {
  if (!isObject(message)) return refuse("INVALID_PARAMS", "`message`: send an object.");
  const { role } = message;
  if (role !== "user" && role !== "ROLE_USER") return refuse("INVALID_PARAMS", "`message.role`: a client sends messages of the user.");
  const settings = isObject(configuration) ? configuration : {};
  checkOutputModes(settings["acceptedOutputModes"]);
  const taskId = optionalId(message["taskId"], "message.taskId");
  const given = message["parts"];
  if (!Array.isArray(given) || given.length === 0) return refuse("INVALID_PARAMS", "`message.parts`: send a list with at least one part.");
  const parts = given.map((part: Json, at) => readPart(part, `message.parts[${at}]`));
  const answers = taskId === undefined ? [] : parts.flatMap(answersOf);
  const rest = taskId === undefined ? parts : parts.filter((part) => answersOf(part).length === 0);
  return {
    messageId: optionalId(message["messageId"], "message.messageId") ?? refuse("INVALID_PARAMS", "`message.messageId`: give it an id."),
    contextId: optionalId(message["contextId"], "message.contextId"),
    taskId,
    message: rest.length === 0 ? undefined : { role: "user", content: contentOf(rest) },
    decisions: answers.flatMap(({ decisions }) => decisions),
    results: answers.flatMap(({ results }) => results),
    returnsAtOnce: settings["returnImmediately"] === true || settings["blocking"] === false,
    historyLength: readHistoryLength(settings["historyLength"]),
  };
}

/** @throws RpcRefused */
export function readHistoryLength(value: Json | undefined): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
  return refuse("INVALID_PARAMS", "`historyLength`: send a whole number, 0 or more.");
}

/** The id in a field that must have one. @throws RpcRefused */
export function readId(value: Json | undefined, at: string): string {
  return optionalId(value, at) ?? refuse("INVALID_PARAMS", `\`${at}\`: send an id.`);
}

function optionalId(value: Json | undefined, at: string): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "string" && value.length <= idChars) return value;
  return refuse("INVALID_PARAMS", `\`${at}\`: send a text of at most ${idChars} characters.`);
}

const answerModes = ["text/plain", "text/*", "*/*", "text"];

function checkOutputModes(modes: Json | undefined): void {
  if (!Array.isArray(modes) || modes.length === 0) return;
  if (modes.some((mode) => typeof mode === "string" && answerModes.includes(mode))) return;
  refuse("CONTENT_TYPE_NOT_SUPPORTED", "`configuration.acceptedOutputModes`: agents of this server answer with `text/plain`.");
}

function readPart(part: Json, at: string): UserPart {
  if (!isObject(part)) return refuse("INVALID_PARAMS", `\`${at}\`: a part is an object.`);
  const { text, data } = part;
  if (typeof text === "string") return { type: "text", text };
  if (data !== undefined) return { type: "json", value: data };
  return filePart(isObject(part["file"]) ? part["file"] : part, at);
}

/** A file of 1.0 (`raw` or `url` and `mediaType`) or of 0.3 (`bytes` or `uri` and `mimeType`). */
function filePart({ raw, bytes, url, uri, mediaType, mimeType }: JsonObject, at: string): UserPart {
  const type = [mediaType, mimeType].find((one) => typeof one === "string" && one !== "") as string | undefined;
  const source = sourceOf(raw ?? bytes, url ?? uri);
  if (!source) return refuse("INVALID_PARAMS", `\`${at}\`: send text, data, or a file as base64 or with a \`url\` of https.`);
  return { type: type?.startsWith("image/") ? "image" : "file", mediaType: type ?? "application/octet-stream", source };
}

function sourceOf(data: Json | undefined, url: Json | undefined): MediaSource | undefined {
  if (typeof data === "string" && data !== "") return { data };
  return typeof url === "string" && url.startsWith("https://") ? { url } : undefined;
}

const contentOf = (parts: readonly UserPart[]): UserMessage["content"] => {
  const [first, second] = parts;
  return first?.type === "text" && !second ? first.text : parts;
};

interface Answers {
  readonly decisions: readonly GivenDecision[];
  readonly results: readonly GivenResult[];
}

/** The answers of a data part `{ decisions: [{ callKey, decision, note? }], results: [{ callKey, output, isError? }] }`; none of any other part. */
function answersOf(part: UserPart): readonly Answers[] {
  if (part.type !== "json" || !isObject(part.value)) return [];
  const { decisions = [], results = [] } = part.value;
  if (!Array.isArray(decisions) || !Array.isArray(results) || decisions.length + results.length === 0) return [];
  return [{ decisions: decisions.map(decisionOf), results: results.map(resultOf) }];
}

function decisionOf(given: Json): GivenDecision {
  const { callKey, decision, note, argsDigest } = isObject(given) ? given : {};
  if (typeof callKey !== "string" || (decision !== "allow" && decision !== "deny"))
    return refuse("INVALID_PARAMS", "`decisions`: an entry has a `callKey`, and `allow` or `deny` as its `decision`.");
  const textOf = (value: Json | undefined): string | undefined => (typeof value === "string" ? value : undefined);
  return { callKey, isAllowed: decision === "allow", note: textOf(note), argsDigest: textOf(argsDigest) };
}

function resultOf(given: Json): GivenResult {
  const { callKey, output, isError } = isObject(given) ? given : {};
  if (typeof callKey !== "string" || output === undefined)
    return refuse("INVALID_PARAMS", "`results`: an entry has a `callKey` and an `output`.");
  return { callKey, output: typeof output === "string" ? output : JSON.stringify(output), isError: isError === true };
}
