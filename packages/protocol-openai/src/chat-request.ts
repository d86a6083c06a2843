import type { Json, JsonObject } from "@loopwright/core/protocol";
import { type AnswerForm, answerFormOf } from "./answer-form.ts";
import { isObject, type ReadMessages, readMessages } from "./chat-messages.ts";
import { refuse } from "./openai-error.ts";

/** A tool of the caller, as a session declares it. */
export interface CallerTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
}

/** A request of the chat completions API. */
export interface ChatRequest extends ReadMessages {
  /** Name of the agent. */
  readonly model: string;
  readonly tools: readonly CallerTool[];
  readonly isStreamed: boolean;
  /** A streamed answer ends with its usage. */
  readonly includesUsage: boolean;
  readonly options: { readonly temperature?: number; readonly maxTokens?: number; readonly reasoningEffort?: string };
  /** `undefined`: text. */
  readonly form: AnswerForm | undefined;
  /** The conversation in which the request is, where the client names one. */
  readonly chatId: string | undefined;
}

/** Reads a body. Fields that an agent has no use for are ignored, as clients send them with every request; those that ask for another form of answer are refused. @throws RequestRefused */
export function readChatRequest(body: Json | Uint8Array | undefined): ChatRequest {
  if (body instanceof Uint8Array || !isObject(body)) return refuse("body", "send a JSON object.");
  const { model, stream = false, stream_options: streamOptions } = body;
  if (typeof model !== "string" || model === "") refuse("model", "name an agent: `GET /v1/models` lists them.");
  if (typeof stream !== "boolean" && stream !== null) refuse("stream", "use true or false.");
  refuseOtherForms(body);
  return {
    ...readMessages(body["messages"]),
    model,
    tools: body["tool_choice"] === "none" ? [] : toolsOf(body["tools"]),
    isStreamed: stream === true,
    includesUsage: isObject(streamOptions) && streamOptions["include_usage"] === true,
    options: samplingOf({
      ...{ temperature: body["temperature"], max: body["max_completion_tokens"] ?? body["max_tokens"], maxField: "max_completion_tokens" },
      ...{ effort: body["reasoning_effort"], effortField: "reasoning_effort" },
    }),
    form: formOf(body["response_format"]),
    chatId: chatIdOf(body["metadata"]),
  };
}

/** This API has the name and the schema one level below. */
function formOf(format: Json | undefined): AnswerForm | undefined {
  const nested = isObject(format) ? format["json_schema"] : undefined;
  return answerFormOf(isObject(format) && isObject(nested) ? { ...nested, type: format["type"] ?? null } : format, "response_format");
}

/** What would change the answer and cannot be kept. */
function refuseOtherForms({ n, tool_choice: choice, functions, modalities }: JsonObject): void {
  if (n !== undefined && n !== null && n !== 1) refuse("n", "an agent gives one answer.", "unsupported_value");
  if (choice !== undefined && choice !== null && choice !== "auto" && choice !== "none")
    refuse("tool_choice", "only `auto` and `none` can be asked for.", "unsupported_value");
  if (functions !== undefined) refuse("functions", "use `tools`.", "unsupported_parameter");
  if (Array.isArray(modalities) && modalities.some((one) => one !== "text"))
    refuse("modalities", "an agent answers with text.", "unsupported_value");
}

function toolsOf(given: Json | undefined): readonly CallerTool[] {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given)) refuse("tools", "send a list.");
  return given.map((tool, at) => {
    const { type, function: declared } = isObject(tool) ? tool : {};
    if (type !== "function" || !isObject(declared) || typeof declared["name"] !== "string")
      return refuse(`tools[${at}]`, "a tool has the type `function` and a `function` with a name.", "unsupported_value");
    return callerTool(declared, `tools[${at}].function`);
  });
}

/** @throws RequestRefused */
export function callerTool({ name, description, parameters }: JsonObject, at: string): CallerTool {
  if (typeof name !== "string" || typeof (description ?? "") !== "string" || !isObject(parameters ?? {}))
    return refuse(at, "`name` and `description` are texts and `parameters` is a JSON schema.");
  return { name, description: (description ?? "") as string, parameters: (parameters ?? {}) as JsonObject };
}

/** What a request may choose, and where its fields stand in this API. */
interface Sampling {
  readonly temperature: Json | undefined;
  readonly max: Json | undefined;
  readonly maxField: string;
  readonly effort: Json | undefined;
  readonly effortField: string;
}

/** @throws RequestRefused */
export function samplingOf({ temperature, max, maxField, effort, effortField }: Sampling): ChatRequest["options"] {
  if (!isNumberOrNone(temperature)) refuse("temperature", "use a number.");
  if (!isNumberOrNone(max)) refuse(maxField, "use a number.");
  if (effort !== undefined && effort !== null && typeof effort !== "string") refuse(effortField, "use one of the words of the API.");
  return {
    ...(typeof temperature === "number" ? { temperature } : {}),
    ...(typeof max === "number" ? { maxTokens: max } : {}),
    ...(typeof effort === "string" ? { reasoningEffort: effort } : {}),
  };
}

const isNumberOrNone = (value: Json | undefined): boolean => value === undefined || value === null || typeof value === "number";

/** The conversation that the metadata of a request name. @throws RequestRefused */
export function chatIdOf(metadata: Json | undefined): string | undefined {
  const id = isObject(metadata) ? metadata["chat_id"] : undefined;
  if (id === undefined || id === null || id === "") return undefined;
  return typeof id === "string" ? id : refuse("metadata.chat_id", "use a text.");
}
