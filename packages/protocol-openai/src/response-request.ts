import type { Json, JsonObject } from "@loopwright/core/protocol";
import { type AnswerForm, answerFormOf } from "./answer-form.ts";
import { conversationOf, isObject, type ReadMessages } from "./chat-messages.ts";
import { type CallerTool, type ChatRequest, callerTool, chatIdOf, samplingOf } from "./chat-request.ts";
import { refuse } from "./openai-error.ts";
import { type LoggedResponse, loggedResponse } from "./response-id.ts";

/** A request of the responses API. */
export interface ResponseRequest extends ReadMessages {
  /** Name of the agent. */
  readonly model: string;
  readonly tools: readonly CallerTool[];
  readonly isStreamed: boolean;
  /** The run continues without its caller, and an answer in one piece is not waited for. */
  readonly isBackground: boolean;
  readonly options: ChatRequest["options"];
  readonly form: AnswerForm | undefined;
  readonly chatId: string | undefined;
  /** The response that this one continues. */
  readonly previous: LoggedResponse | undefined;
}

/** Reads a body. Fields that an agent has no use for are ignored; those that ask for another form of answer are refused. @throws RequestRefused */
export function readResponseRequest(body: Json | Uint8Array | undefined): ResponseRequest {
  if (body instanceof Uint8Array || !isObject(body)) return refuse("body", "send a JSON object.");
  const { model, stream, background, instructions } = body;
  if (typeof model !== "string" || model === "") refuse("model", "name an agent: `GET /v1/models` lists them.");
  refuseOtherForms(body);
  const { systemPrompt, ...read } = inputOf(body["input"]);
  if (!isTextOrNone(instructions)) refuse("instructions", "use a text.");
  const prompts = [instructions, systemPrompt].filter((text) => typeof text === "string" && text !== "");
  return {
    ...read,
    systemPrompt: prompts.length === 0 ? undefined : prompts.join("\n\n"),
    model,
    tools: body["tool_choice"] === "none" ? [] : toolsOf(body["tools"]),
    isStreamed: flagOf(stream, "stream"),
    isBackground: flagOf(background, "background"),
    options: samplingOf({
      ...{ temperature: body["temperature"], max: body["max_output_tokens"], maxField: "max_output_tokens" },
      ...{ effort: isObject(body["reasoning"]) ? body["reasoning"]["effort"] : undefined, effortField: "reasoning.effort" },
    }),
    form: answerFormOf(isObject(body["text"]) ? body["text"]["format"] : undefined, "text.format"),
    chatId: chatIdOf(body["metadata"]),
    previous: previousOf(body["previous_response_id"]),
  };
}

/** What would change the answer and cannot be kept. */
function refuseOtherForms({ tool_choice: choice, conversation, prompt }: JsonObject): void {
  if (choice !== undefined && choice !== null && choice !== "auto" && choice !== "none")
    refuse("tool_choice", "only `auto` and `none` can be asked for.", "unsupported_value");
  if (!isNone(conversation)) refuse("conversation", "use `previous_response_id`, or `metadata.chat_id`.", "unsupported_parameter");
  if (!isNone(prompt)) refuse("prompt", "use `instructions`.", "unsupported_parameter");
}

const isNone = (value: Json | undefined): boolean => value === undefined || value === null;
const isTextOrNone = (value: Json | undefined): boolean => isNone(value) || typeof value === "string";

function flagOf(value: Json | undefined, field: string): boolean {
  return isNone(value) ? false : typeof value === "boolean" ? value : refuse(field, "use true or false.");
}

function previousOf(id: Json | undefined): LoggedResponse | undefined {
  if (isNone(id)) return undefined;
  const found = typeof id === "string" ? loggedResponse(id) : undefined;
  return found ?? refuse("previous_response_id", "there is no response with this id.", "previous_response_not_found");
}

function toolsOf(given: Json | undefined): readonly CallerTool[] {
  if (isNone(given)) return [];
  if (!Array.isArray(given)) refuse("tools", "send a list.");
  return given.map((tool, at) => {
    if (!isObject(tool) || tool["type"] !== "function")
      return refuse(
        `tools[${at}]`,
        "a tool of the caller has the type `function`; the tools of the server are those of the agent.",
        "unsupported_value",
      );
    return callerTool(tool, `tools[${at}]`);
  });
}

function inputOf(input: Json | undefined): ReadMessages {
  if (typeof input === "string") return conversationOf([{ role: "user", content: input }], "input");
  if (!Array.isArray(input) || input.length === 0) return refuse("input", "send text, or a list of items.");
  return conversationOf(
    input.map((item, at) => chatMessageOf(item, `input[${at}]`)),
    "input",
  );
}

/** An item as a message of the chat completions API; `undefined` for one that an agent has in its log. */
function chatMessageOf(item: Json, at: string): Json | undefined {
  if (!isObject(item)) return refuse(at, "an item is an object.");
  const { type = "message", role, content, call_id: id } = item;
  switch (type) {
    case "message":
      return { role: role ?? null, content: contentOf(content) };
    case "function_call": {
      const call = { id: id ?? null, function: { name: item["name"] ?? null, arguments: item["arguments"] ?? null } };
      return { role: "assistant", content: null, tool_calls: [call] };
    }
    case "function_call_output":
      return { role: "tool", tool_call_id: id ?? null, content: contentOf(item["output"]) };
    case "reasoning":
      return undefined;
    default:
      return refuse(at, "use items of the type `message`, `function_call`, `function_call_output` or `reasoning`.", "unsupported_value");
  }
}

/** Parts in the words of the chat completions API. */
function contentOf(content: Json | undefined): Json {
  if (!Array.isArray(content)) return content ?? null;
  return content.map((part) => {
    if (!isObject(part)) return part;
    const { type, image_url: url, file_data: data, filename } = part;
    if (type === "input_text" || type === "output_text") return { ...part, type: "text" };
    if (type === "input_image") return { type: "image_url", image_url: { url: url ?? null } };
    if (type === "input_file") return { type: "file", file: { file_data: data ?? null, ...(filename === undefined ? {} : { filename }) } };
    return part;
  });
}
