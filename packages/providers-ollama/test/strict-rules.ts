import type { Json, JsonObject } from "@loopwright/core";

type Report = (rule: string) => void;

/**
 * What a request breaks of the server's rules and of what strict chat templates want, in words; empty when it would be
 * accepted. Written from the API's pages, without a look at how requests are built.
 * @see https://docs.ollama.com/api/chat (2026-11-21)
 */
export function violationsOf(body: JsonObject): readonly string[] {
  const found: string[] = [];
  const report: Report = (rule) => found.push(rule);
  if (typeof body["model"] !== "string" || body["model"] === "") report("model is required");
  if (!isOneOf(body["stream"], ["undefined", "boolean"])) report("stream must be true or false");
  const think = body["think"];
  if (think !== undefined && typeof think !== "boolean" && !["low", "medium", "high"].includes(String(think)))
    report("think must be a switch or a level");
  const format = body["format"];
  if (format !== undefined && format !== "" && format !== "json" && !isRecord(format)) report("format must be json or a schema");
  if (body["options"] !== undefined && !isRecord(body["options"])) report("options must be an object");
  checkOptions(object(body["options"]), report);
  for (const [at, tool] of array(body["tools"]).map(object).entries()) checkTool(tool, at, report);
  if (body["tool_choice"] !== undefined) report("tool_choice is not supported");
  checkMessages(array(body["messages"]).map(object), report);
  return found;
}

function checkOptions(options: JsonObject, report: Report): void {
  for (const name of ["num_predict", "num_ctx"]) {
    const value = options[name];
    if (value !== undefined && (typeof value !== "number" || !Number.isInteger(value))) report(`option "${name}" must be of type integer`);
  }
  const { temperature } = options;
  if (temperature !== undefined && typeof temperature !== "number") report('option "temperature" must be of type float32');
}

function checkTool(tool: JsonObject, at: number, report: Report): void {
  const asked = object(tool["function"]);
  if (tool["type"] !== "function") report(`tools.${at}.type must be function`);
  if (typeof asked["name"] !== "string" || asked["name"] === "") report(`tools.${at}.function.name is required`);
  if (object(asked["parameters"])["type"] !== "object") report(`tools.${at}.function.parameters must describe an object`);
}

function checkMessages(messages: readonly JsonObject[], report: Report): void {
  if (messages.length === 0) report("messages are required: an empty list only loads the model");
  let open: readonly JsonObject[] = [];
  const ids = new Set<string>();
  for (const [at, message] of messages.entries()) {
    const role = message["role"];
    if (!["system", "user", "assistant", "tool"].includes(String(role))) report(`messages.${at}: invalid role`);
    if (typeof message["content"] !== "string") report(`messages.${at}: content must be text`);
    if (role === "system" && at > 0) report(`messages.${at}: System message must be at the beginning.`);
    if (role === "user" && messages[at - 1]?.["role"] === "user") report(`messages.${at}: roles must alternate`);
    for (const image of array(message["images"])) if (!isBase64(image)) report(`messages.${at}: illegal base64 data`);
    if (role === "tool") {
      const call = open[0];
      open = open.slice(1);
      if (!call) report(`messages.${at}: a result without a call`);
      else checkResult(message, call, { at, report });
      continue;
    }
    if (open.length > 0) report(`messages.${at}: ${open.length} calls have no result`);
    open = role === "assistant" ? checkCalls(message, { at, ids, report }) : [];
    if (role !== "assistant" && message["content"] === "" && array(message["images"]).length === 0)
      report(`messages.${at}: nothing is said`);
    if (role === "assistant" && message["content"] === "" && open.length === 0) report(`messages.${at}: nothing is said`);
  }
  if (open.length > 0) report("the last calls have no result");
}

function checkResult(message: JsonObject, call: JsonObject, { at, report }: { at: number; report: Report }): void {
  const id = message["tool_call_id"];
  if (id !== undefined && call["id"] !== undefined && id !== call["id"]) report(`messages.${at}: the result is not of the next call`);
  const name = message["tool_name"];
  if (name !== undefined && name !== object(call["function"])["name"]) report(`messages.${at}: the result has another tool's name`);
}

function checkCalls(message: JsonObject, { at, ids, report }: { at: number; ids: Set<string>; report: Report }): readonly JsonObject[] {
  const calls = array(message["tool_calls"]).map(object);
  for (const call of calls) {
    const asked = object(call["function"]);
    if (typeof asked["name"] !== "string" || asked["name"] === "") report(`messages.${at}: a call without a name`);
    if (!isRecord(asked["arguments"])) report(`messages.${at}: cannot unmarshal arguments: they must be an object`);
    const id = call["id"];
    if (typeof id === "string" && ids.has(id)) report(`messages.${at}: the id ${id} is not unique`);
    if (typeof id === "string") ids.add(id);
  }
  return calls;
}

function isOneOf(value: Json | undefined, types: readonly string[]): boolean {
  return types.includes(typeof value);
}

function isBase64(value: Json): boolean {
  return typeof value === "string" && value !== "" && /^[A-Za-z0-9+/]*={0,2}$/.test(value);
}

function array(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function isRecord(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function object(value: Json | undefined): JsonObject {
  return isRecord(value) ? value : {};
}
