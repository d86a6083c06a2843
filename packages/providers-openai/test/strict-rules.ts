// OpenAI's documented rules of a request, written from the API reference (2026-11-21) and independent of the code that builds requests.
// https://platform.openai.com/docs/api-reference/chat/create, https://platform.openai.com/docs/api-reference/responses/create

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const namePattern = /^[A-Za-z0-9_.-]{1,64}$/;

/** What of the rules a request breaks, as sentences; empty for a good one. Either API, distinguished by `messages` and `input`. */
export function violationsOf(body: unknown): readonly string[] {
  if (!isFields(body)) return ["the body is no object"];
  const found: string[] = [];
  if (typeof body["model"] !== "string" || body["model"] === "") found.push("there is no model");
  if ("messages" in body) found.push(...chatViolations(listOf(body["messages"]).filter(isFields)));
  else if (Array.isArray(body["input"])) found.push(...inputViolations(body["input"].filter(isFields), body));
  else if (typeof body["input"] !== "string" || body["input"] === "") found.push("there is neither messages nor input");
  found.push(...toolViolations(body));
  return found;
}

function toolViolations(body: Fields): string[] {
  const found: string[] = [];
  const tools = body["tools"];
  const responses = "input" in body;
  // Responses take an empty list.
  if (tools !== undefined && (!Array.isArray(tools) || (tools.length === 0 && !responses))) found.push("tools is empty");
  if (tools === undefined && !responses && ("tool_choice" in body || "parallel_tool_calls" in body))
    found.push("a tool setting without tools");
  const names = new Set<string>();
  for (const tool of listOf(tools).filter(isFields)) {
    if (tool["type"] !== "function") continue;
    const spec = responses ? tool : isFields(tool["function"]) ? tool["function"] : {};
    const name = String(spec["name"]);
    if (!namePattern.test(name)) found.push(`tool name ${name}`);
    if (names.has(name)) found.push(`tool ${name} twice`);
    names.add(name);
    const parameters = spec["parameters"];
    if (parameters === undefined || parameters === null) continue;
    if (!isFields(parameters) || parameters["type"] !== "object") found.push(`parameters of ${name} are no object`);
    else if (!isFields(parameters["properties"])) found.push(`parameters of ${name} have no properties`);
    if (spec["strict"] === true) found.push(...strictViolations(parameters, name));
  }
  const format = responses ? (isFields(body["text"]) ? body["text"]["format"] : undefined) : body["response_format"];
  if (isFields(format) && format["type"] === "json_schema") {
    const schema = responses ? format : isFields(format["json_schema"]) ? format["json_schema"] : {};
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(String(schema["name"]))) found.push("the name of the answer's schema");
    if (schema["strict"] === true) found.push(...strictViolations(schema["schema"], "the answer"));
  }
  return found;
}

/** Strict mode: closed objects, everything required. */
function strictViolations(schema: unknown, owner: string): string[] {
  if (Array.isArray(schema)) return schema.flatMap((each) => strictViolations(each, owner));
  if (!isFields(schema)) return [];
  const found: string[] = [];
  const properties = schema["properties"];
  if (schema["type"] === "object") {
    if (schema["additionalProperties"] !== false) found.push(`an open object in the strict schema of ${owner}`);
    const required = listOf(schema["required"]);
    for (const name of Object.keys(isFields(properties) ? properties : {}))
      if (!required.includes(name)) found.push(`${name} of ${owner} is optional, though strict`);
  }
  for (const keyword of ["allOf", "oneOf", "not", "patternProperties"])
    if (keyword in schema) found.push(`${keyword} in the strict schema of ${owner}`);
  const inner = [schema["items"], schema["anyOf"], ...Object.values(isFields(properties) ? properties : {})];
  for (const holder of [schema["$defs"], schema["definitions"]]) if (isFields(holder)) inner.push(...Object.values(holder));
  return [...found, ...inner.flatMap((each) => strictViolations(each, owner))];
}

const roles = new Set(["system", "developer", "user", "assistant", "tool", "function"]);

function chatViolations(messages: readonly Fields[]): string[] {
  const found: string[] = [];
  if (messages.length === 0) found.push("no messages");
  let open: string[] = [];
  const everyId = new Set<string>();
  for (const [at, message] of messages.entries()) {
    const role = String(message["role"]);
    if (!roles.has(role)) found.push(`message ${at} has the role ${role}`);
    if (role === "tool") {
      const id = String(message["tool_call_id"]);
      if (!open.includes(id)) found.push(`message ${at} answers ${id}, which was not asked right before`);
      open = open.filter((each) => each !== id);
    } else if (open.length > 0) {
      found.push(`message ${at} comes before the results of ${open.join(", ")}`);
      open = [];
    }
    const calls = listOf(message["tool_calls"]).filter(isFields);
    if (message["tool_calls"] !== undefined && calls.length === 0) found.push(`message ${at} has an empty list of calls`);
    for (const call of calls) {
      found.push(...chatCallViolations(call, everyId));
      open.push(String(call["id"]));
    }
    found.push(...chatContentViolations(message, { at, role, hasCalls: calls.length > 0 || "function_call" in message }));
  }
  if (open.length > 0) found.push(`calls without results: ${open.join(", ")}`);
  return found;
}

function chatCallViolations(call: Fields, everyId: Set<string>): string[] {
  const found: string[] = [];
  const id = String(call["id"]);
  if (id.length === 0 || id.length > 40) found.push(`call id ${id}`);
  if (everyId.has(id)) found.push(`call id ${id} twice`);
  everyId.add(id);
  const spec = call["function"];
  if (call["type"] !== "function" || !isFields(spec)) return [...found, `call ${id} is no function`];
  if (!namePattern.test(String(spec["name"]))) found.push(`call of ${String(spec["name"])}`);
  if (typeof spec["arguments"] !== "string") found.push(`arguments of ${id} are no text`);
  return found;
}

function chatContentViolations(message: Fields, { at, role, hasCalls }: { at: number; role: string; hasCalls: boolean }): string[] {
  const { content } = message;
  if (content === null || content === undefined) return role === "assistant" && hasCalls ? [] : [`message ${at} has no content`];
  if (typeof content === "string") return content === "" && role !== "assistant" ? [`message ${at} is empty`] : [];
  const parts = listOf(content).filter(isFields);
  if (parts.length === 0) return [`message ${at} has no parts`];
  return parts.flatMap((part) => {
    if (role !== "user" && part["type"] !== "text" && part["type"] !== "refusal")
      return [`message ${at} of ${role} holds ${String(part["type"])}`];
    return part["type"] === "text" && part["text"] === "" ? [`message ${at} holds an empty text`] : [];
  });
}

function inputViolations(items: readonly Fields[], body: Fields): string[] {
  const found: string[] = [];
  if (items.length === 0) found.push("no input");
  const asked = new Set<string>();
  const answered = new Set<string>();
  for (const [at, item] of items.entries()) {
    const type = String(item["type"] ?? "message");
    const id = String(item["call_id"]);
    if (type === "message") found.push(...inputMessageViolations(item, at));
    else if (type === "function_call" || type === "custom_tool_call") {
      if (id === "" || id.length > 64) found.push(`call id ${id}`);
      if (asked.has(id)) found.push(`call id ${id} twice`);
      asked.add(id);
      if (!namePattern.test(String(item["name"]))) found.push(`call of ${String(item["name"])}`);
      if (typeof item[type === "function_call" ? "arguments" : "input"] !== "string") found.push(`arguments of ${id} are no text`);
    } else if (type === "function_call_output" || type === "custom_tool_call_output") {
      // With `previous_response_id` the call may stand in what the vendor has stored.
      if (!asked.has(id) && body["previous_response_id"] === undefined) found.push(`output of ${id}, which was not asked`);
      if (answered.has(id)) found.push(`output of ${id} twice`);
      answered.add(id);
      if (item["output"] === undefined) found.push(`output of ${id} is missing`);
    } else if (type === "reasoning") {
      if (body["store"] === false && typeof item["encrypted_content"] !== "string") found.push(`reasoning ${at} without its content`);
      const next = items[at + 1];
      if (next === undefined || next["role"] === "user") found.push(`reasoning ${at} without what followed from it`);
    }
  }
  for (const id of asked) if (!answered.has(id)) found.push(`no output of ${id}`);
  return found;
}

function inputMessageViolations(item: Fields, at: number): string[] {
  const { role, content } = item;
  if (!["user", "assistant", "system", "developer"].includes(String(role))) return [`item ${at} has the role ${String(role)}`];
  if (typeof content === "string") return content === "" ? [`item ${at} is empty`] : [];
  const parts = listOf(content).filter(isFields);
  if (parts.length === 0) return [`item ${at} has no parts`];
  return parts.flatMap((part) => {
    const type = String(part["type"]);
    const fits = role === "assistant" ? type.startsWith("output_") || type === "refusal" : type.startsWith("input_");
    if (!fits) return [`item ${at} of ${String(role)} holds ${type}`];
    return "text" in part && part["text"] === "" ? [`item ${at} holds an empty text`] : [];
  });
}
