import type { Json, JsonObject } from "@loopwright/core";

type Report = (rule: string) => void;

/**
 * What a request breaks of the vendor's documented rules, in words; empty when it would be accepted. Written from the
 * vendor's pages and error messages, without a look at how requests are built.
 * @see https://platform.claude.com/docs/en/api/messages (2026-11-21)
 */
export function violationsOf(body: JsonObject): readonly string[] {
  const found: string[] = [];
  const report: Report = (rule) => found.push(rule);
  const tools = array(body["tools"]);
  if (typeof body["model"] !== "string" || body["model"] === "") report("model: Field required");
  const maxTokens = body["max_tokens"];
  if (typeof maxTokens !== "number" || !Number.isInteger(maxTokens) || maxTokens < 1)
    report("max_tokens: must be an integer of at least 1");
  checkSystem(body["system"], report);
  checkTools(tools, body, report);
  checkThinking(body, report);
  checkMessages(array(body["messages"]).map(object), report);
  checkPrefill(object(array(body["messages"]).at(-1)), String(body["model"]), report);
  const markers = JSON.stringify(body).split('"cache_control":{').length - 1;
  if (markers > 4) report(`a maximum of 4 blocks with cache_control may be provided, found ${markers}`);
  return found;
}

function checkSystem(system: Json | undefined, report: Report): void {
  if (Array.isArray(system)) for (const [at, block] of system.map(object).entries()) checkText(block, `system.${at}`, report);
  else if (system !== undefined && typeof system !== "string") report("system: must be text or blocks");
}

function checkTools(tools: readonly Json[], body: JsonObject, report: Report): void {
  const names = new Set<string>();
  for (const [at, tool] of tools.map(object).entries()) {
    const name = tool["name"];
    if (typeof tool["type"] === "string" && tool["type"] !== "custom") continue;
    if (typeof name !== "string" || !/^[a-zA-Z0-9_-]{1,128}$/.test(name)) report(`tools.${at}.name: must match ^[a-zA-Z0-9_-]{1,128}$`);
    else if (names.has(name)) report("tools: Tool names must be unique.");
    else names.add(name);
    const schema = object(tool["input_schema"]);
    if (schema["type"] !== "object") report(`tools.${at}.input_schema.type: Field required`);
    if (["oneOf", "allOf", "anyOf"].some((key) => key in schema))
      report(`tools.${at}: input_schema does not support oneOf, allOf, or anyOf at the top level`);
  }
  const choice = object(body["tool_choice"]);
  const blocks = array(body["messages"]).flatMap((message) => array(object(message)["content"]).map(object));
  if (tools.length === 0 && blocks.some(({ type }) => type === "tool_use" || type === "tool_result")) {
    report("Requests which include `tool_use` or `tool_result` blocks must define tools.");
  }
  if (body["tool_choice"] === undefined) return;
  if (tools.length === 0) report("tool_choice may only be specified while providing tools");
  if (!["auto", "any", "tool", "none"].includes(String(choice["type"]))) report("tool_choice.type: unknown");
  if (choice["type"] === "none" && "disable_parallel_tool_use" in choice) report("tool_choice.none: Extra inputs are not permitted");
  if (choice["type"] === "tool" && !tools.some((tool) => object(tool)["name"] === choice["name"]))
    report("tool_choice.name: Tool not found in provided tools");
}

function checkThinking(body: JsonObject, report: Report): void {
  const thinking = object(body["thinking"]);
  const model = String(body["model"]);
  const type = thinking["type"];
  const newer = /(?:opus|sonnet|haiku|fable|mythos)-5|opus-4-[78]/.test(model);
  if (type === "enabled") {
    const budget = thinking["budget_tokens"];
    if (typeof budget !== "number" || budget < 1_024) report("thinking.enabled.budget_tokens: must be at least 1024");
    else if (typeof body["max_tokens"] === "number" && budget >= body["max_tokens"])
      report("max_tokens must be greater than thinking.budget_tokens");
    checkThinkingFirst(array(body["messages"]).map(object), report);
    if (newer) report('"thinking.type.enabled" is not supported for this model');
  }
  if (type === "disabled" && /fable-5|mythos-5|(?:opus|sonnet)-5-5/.test(model))
    report('"thinking.type.disabled" is not supported for this model');
  const binds = /(?:fable|mythos)-5-[12]|(?:opus|sonnet|haiku)-5-5/.test(model);
  if ("block_binding" in thinking && !binds) report("thinking.block_binding: Extra inputs are not permitted");
  const forced = ["any", "tool"].includes(String(object(body["tool_choice"])["type"]));
  if ((type === "enabled" || type === "adaptive") && forced) report("Thinking may not be enabled when tool_choice forces tool use.");
  const temperature = body["temperature"];
  if (temperature === undefined || temperature === 1) return;
  if (typeof temperature !== "number" || temperature < 0 || temperature > 1) report("temperature: range: 0..1");
  if (newer) report("`temperature` is deprecated for this model.");
  if (type === "enabled" || type === "adaptive") report("`temperature` may only be set to 1 when thinking is enabled");
}

function checkMessages(messages: readonly JsonObject[], report: Report): void {
  if (messages.length === 0) report("messages: at least one message is required");
  const ids = new Set<string>();
  let open: readonly string[] = [];
  messages.forEach((message, at) => {
    const blocks =
      typeof message["content"] === "string" ? [{ type: "text", text: message["content"] }] : array(message["content"]).map(object);
    const role = message["role"];
    if (blocks.length === 0) report(`messages.${at}: all messages must have non-empty content`);
    if (at === 0 && role !== "user") report("messages: first message must use the user role");
    if (role === "system") checkSystemPlace(messages, at, report);
    else if (role !== "user" && role !== "assistant") report(`messages.${at}: Unexpected role "${String(role)}"`);
    if (open.length > 0) checkResults(blocks, { at, open, role }, report);
    else if (blocks.some(({ type }) => type === "tool_result"))
      report(`messages.${at}: unexpected tool_use_id found in tool_result blocks`);
    for (const [index, block] of blocks.entries()) checkBlock(block, { place: `messages.${at}.content.${index}`, role }, report);
    open = role === "assistant" ? checkAssistant(blocks, { at, ids, last: at === messages.length - 1 }, report) : [];
  });
  if (open.length > 0) report("tool_use ids were found without tool_result blocks immediately after");
  checkServerTools(messages, report);
}

/** A server tool's result stands in the answer that used it, or in one that continues it after the results of other calls. */
function checkServerTools(messages: readonly JsonObject[], report: Report): void {
  let open: string[] = [];
  for (const [at, message] of messages.entries()) {
    const blocks = array(message["content"]).map(object);
    if (message["role"] === "user" && blocks.some(({ type }) => type !== "tool_result")) {
      if (open.length > 0) report(`messages.${at}: server tool use ${open.join(", ")} was found without a corresponding result block`);
      open = [];
    }
    if (message["role"] !== "assistant") continue;
    for (const block of blocks) {
      const type = String(block["type"]);
      const used = String(block["tool_use_id"]);
      if (type !== "tool_use" && type.endsWith("tool_use")) open.push(String(block["id"]));
      else if (type.endsWith("tool_result") && !open.includes(used))
        report(`messages.${at}: unexpected tool_use_id found in ${type}: ${used}`);
      open = open.filter((id) => id !== used);
    }
  }
}

/** An answer that a server tool paused is continued by sending it back; words put into the model's mouth are not. */
function checkPrefill(last: JsonObject, model: string, report: Report): void {
  const paused = object(array(last["content"]).at(-1))["type"] !== "text";
  const refuses = /(?:opus|sonnet|haiku|fable|mythos)-5|(?:opus|sonnet)-4-[678]/.test(model);
  if (last["role"] === "assistant" && !paused && refuses) report("This model does not support assistant message prefill.");
}

function checkSystemPlace(messages: readonly JsonObject[], at: number, report: Report): void {
  if (messages[at - 1]?.["role"] !== "user") report(`messages.${at}: role 'system' must follow a 'user' message`);
  const next = messages[at + 1];
  if (next && next["role"] !== "assistant") report(`messages.${at}: role 'system' must precede an 'assistant' message or end the array`);
}

/** With a budget for thinking, the tool loop at hand begins with thinking. */
function checkThinkingFirst(messages: readonly JsonObject[], report: Report): void {
  const last = messages.findLast(({ role }) => role === "user");
  const answer = messages.findLast(({ role }) => role === "assistant");
  if (object(array(last?.["content"])[0])["type"] !== "tool_result") return;
  const first = String(object(array(answer?.["content"])[0])["type"]);
  if (!["thinking", "redacted_thinking"].includes(first)) report(`Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\``);
}

/** The results come first in the next user message, one for each call. */
function checkResults(
  blocks: readonly JsonObject[],
  { at, open, role }: { at: number; open: readonly string[]; role: Json | undefined },
  report: Report,
): void {
  const results = blocks.filter(({ type }) => type === "tool_result");
  const given = results.map((block) => String(block["tool_use_id"]));
  const missing = open.filter((id) => !given.includes(id));
  if (role !== "user" || missing.length > 0)
    report(`messages.${at - 1}: tool_use ids were found without tool_result blocks immediately after: ${missing.join(", ")}`);
  for (const id of given) if (!open.includes(id)) report(`messages.${at}: unexpected tool_use_id found in tool_result blocks: ${id}`);
  if (new Set(given).size < given.length) report(`messages.${at}: each tool_use must have a single result`);
  if (blocks.slice(0, results.length).some(({ type }) => type !== "tool_result"))
    report(`messages.${at}: tool_result blocks must come first`);
}

/** The ids of the calls that the next message must answer. */
function checkAssistant(
  blocks: readonly JsonObject[],
  { at, ids, last }: { at: number; ids: Set<string>; last: boolean },
  report: Report,
): readonly string[] {
  const final = blocks.at(-1);
  if (final?.["type"] === "thinking" || final?.["type"] === "redacted_thinking")
    report(`messages.${at}: The final block in an assistant message cannot be thinking`);
  if (last && final?.["type"] === "text" && /\s$/.test(String(final["text"])))
    report("final assistant content cannot end with trailing whitespace");
  const calls = blocks.filter(({ type }) => type === "tool_use").map((block) => String(block["id"]));
  for (const id of calls) {
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(id)) report(`messages.${at}: tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
    if (ids.has(id)) report(`messages.${at}: tool_use ids must be unique: ${id}`);
    ids.add(id);
  }
  return calls;
}

const userTypes = ["text", "image", "document", "tool_result", "search_result", "container_upload"];

function checkBlock(block: JsonObject, { place, role }: { place: string; role: Json | undefined }, report: Report): void {
  const type = String(block["type"]);
  if (role === "user" && !userTypes.includes(type)) report(`${place}: ${type} is no block of a user`);
  if (role === "system" && type !== "text") report(`${place}: ${type} is no block of the system`);
  if (role === "assistant" && ["image", "document", "tool_result"].includes(type)) report(`${place}: ${type} is no block of an assistant`);
  if (type === "text") checkText(block, place, report);
  if (type === "thinking" && (typeof block["signature"] !== "string" || typeof block["thinking"] !== "string"))
    report(`${place}.signature: Field required`);
  if (type === "redacted_thinking" && typeof block["data"] !== "string") report(`${place}.data: Field required`);
  if (type === "tool_use" && !/^[a-zA-Z0-9_-]{1,128}$/.test(String(block["name"])))
    report(`${place}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
  if (["thinking", "redacted_thinking"].includes(type) && "cache_control" in block)
    report(`${place}.cache_control: Extra inputs are not permitted`);
  if (type === "tool_use" && !isRecord(block["input"])) report(`${place}.input: Input should be a valid dictionary`);
  if (type === "image") checkImage(object(block["source"]), place, report);
  if (type === "tool_result" && Array.isArray(block["content"])) {
    block["content"].map(object).forEach((inner, index) => {
      if (!["text", "image", "document", "search_result", "tool_reference"].includes(String(inner["type"])))
        report(`${place}.content.${index}: type not allowed in a result`);
      if (inner["type"] === "text") checkText(inner, `${place}.content.${index}`, report);
    });
  }
}

function checkText(block: JsonObject, place: string, report: Report): void {
  if (typeof block["text"] !== "string" || block["text"].trim() === "")
    report(`${place}: text content blocks must contain non-whitespace text`);
}

function checkImage(source: JsonObject, place: string, report: Report): void {
  if (source["type"] === "base64" && !["image/jpeg", "image/png", "image/gif", "image/webp"].includes(String(source["media_type"])))
    report(`${place}.source.media_type: not supported`);
  if (!["base64", "url", "file"].includes(String(source["type"]))) report(`${place}.source.type: unknown`);
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
