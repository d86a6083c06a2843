/**
 * The vendor's rules for a request, read from its documentation and its error messages, not from `request.ts`.
 * @see https://ai.google.dev/api/generate-content https://ai.google.dev/gemini-api/docs/function-calling (2026-11-21)
 */
type Thing = Readonly<Record<string, unknown>>;

const dataFields = [
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
  "toolCall",
  "toolResponse",
];
const topFields = [
  "contents",
  "systemInstruction",
  "tools",
  "toolConfig",
  "generationConfig",
  "safetySettings",
  "cachedContent",
  "labels",
  "model",
];
const modes = ["AUTO", "ANY", "NONE", "VALIDATED", "MODE_UNSPECIFIED"];

/** What the vendor would refuse in this body, as sentences; empty when nothing. `signed`: as the models that demand thought signatures. */
export function violationsOf(given: unknown, options: { readonly signed?: boolean } = {}): readonly string[] {
  const found: string[] = [];
  const body = plain(given);
  for (const key of Object.keys(body)) if (!topFields.includes(key)) found.push(`Unknown name "${key}".`);
  const contents = listOf(body["contents"]);
  if (contents.length === 0) found.push("contents are required.");
  for (const [at, content] of contents.entries()) found.push(...contentViolations(content, `contents[${at}]`));
  const system = body["systemInstruction"];
  if (system !== undefined) found.push(...contentViolations(plain(system), "systemInstruction").filter((each) => !each.includes("role")));
  found.push(...turnViolations(contents), ...idViolations(contents), ...toolViolations(body));
  if (options.signed) found.push(...signatureViolations(contents));
  return found;
}

function contentViolations(content: Thing, where: string): readonly string[] {
  const found: string[] = [];
  if (content["role"] !== "user" && content["role"] !== "model") found.push(`${where}: a valid role is user or model.`);
  const parts = listOf(content["parts"]);
  if (parts.length === 0) found.push(`${where}: must include at least one parts field.`);
  for (const [at, part] of parts.entries()) {
    const fields = dataFields.filter((name) => part[name] !== undefined);
    if (fields.length !== 1) found.push(`${where}.parts[${at}]: exactly one of the data fields must be set, not ${fields.length}.`);
    if (part["text"] === "" && part["thoughtSignature"] === undefined) found.push(`${where}.parts[${at}]: the text is empty.`);
    const inline = part["inlineData"] === undefined ? undefined : plain(part["inlineData"]);
    if (inline && (typeof inline["mimeType"] !== "string" || typeof inline["data"] !== "string")) {
      found.push(`${where}.parts[${at}]: inlineData needs mimeType and data.`);
    }
    for (const field of ["functionCall", "functionResponse"]) {
      const name = part[field] === undefined ? "ok" : plain(part[field])["name"];
      if (typeof name !== "string" || !/^[a-zA-Z_][\w.:-]{0,127}$/.test(name))
        found.push(`${where}.parts[${at}]: ${field} has no valid name.`);
    }
    const response = part["functionResponse"] === undefined ? {} : plain(part["functionResponse"])["response"];
    if (typeof response !== "object" || response === null || Array.isArray(response)) {
      found.push(`${where}.parts[${at}]: the response must be an object.`);
    }
    const isOwn = (field: string): boolean => content["role"] === "model" || !["functionCall", "executableCode"].includes(field);
    if (!fields.every(isOwn)) found.push(`${where}.parts[${at}]: only the model calls functions.`);
  }
  return found;
}

/** Calls come after a user turn, and their results right after them, as many and in order. */
function turnViolations(contents: readonly Thing[]): readonly string[] {
  const found: string[] = [];
  for (const [at, content] of contents.entries()) {
    const calls = namesIn(content, "functionCall");
    const responses = namesIn(content, "functionResponse");
    if (at === 0 && content["role"] !== "user") found.push("The conversation must begin with a user turn.");
    if (calls.length > 0) {
      if (contents[at - 1]?.["role"] !== "user")
        found.push("Function call turn must come immediately after a user turn or after a function response turn.");
      const next = namesIn(contents[at + 1], "functionResponse");
      if (next.length !== calls.length)
        found.push(
          `The number of function response parts (${next.length}) is not equal to the number of function call parts (${calls.length}).`,
        );
      else if (next.join() !== calls.join()) found.push("Function responses are not in the order of their calls.");
    }
    if (responses.length > 0) {
      if (namesIn(contents[at - 1], "functionCall").length === 0)
        found.push("Function response turn must come immediately after a function call turn.");
      if (content["role"] !== "user" && content["role"] !== "function") found.push("Function responses are of the user.");
    }
  }
  const last = contents.at(-1);
  if (last && last["role"] !== "user") found.push("The conversation must end with a user turn.");
  return found;
}

function idViolations(contents: readonly Thing[]): readonly string[] {
  const found: string[] = [];
  const seen = new Set<unknown>();
  for (const [at, content] of contents.entries()) {
    const calls = fieldsIn(content, "functionCall");
    for (const { id } of calls) {
      if (id === undefined) continue;
      if (seen.has(id)) found.push(`The id ${String(id)} is there twice.`);
      seen.add(id);
    }
    const responses = fieldsIn(contents[at + 1], "functionResponse");
    for (const [place, call] of calls.entries()) {
      const response = responses[place];
      if (response && response["id"] !== call["id"]) found.push(`The id of response ${place} is not that of its call.`);
    }
  }
  return found;
}

function toolViolations(body: Thing): readonly string[] {
  const found: string[] = [];
  const tools = body["tools"] === undefined ? undefined : listOf(body["tools"]);
  if (tools && tools.length === 0) found.push("tools is empty.");
  const names = new Set<unknown>();
  for (const tool of tools ?? []) {
    const declarations = tool["functionDeclarations"] === undefined ? undefined : listOf(tool["functionDeclarations"]);
    if (declarations?.length === 0) found.push("functionDeclarations is empty.");
    for (const declaration of declarations ?? []) {
      const { name } = declaration;
      if (typeof name !== "string" || !/^[a-zA-Z_][\w.:-]{0,127}$/.test(name)) found.push(`Invalid function name ${String(name)}.`);
      if (names.has(name)) found.push(`Duplicate function declaration ${String(name)}.`);
      names.add(name);
      if (declaration["parameters"] !== undefined && declaration["parametersJsonSchema"] !== undefined) {
        found.push("parameters and parametersJsonSchema are mutually exclusive.");
      }
    }
  }
  const config = plain(body["toolConfig"])["functionCallingConfig"];
  const calling = config === undefined ? undefined : plain(config);
  if (calling) {
    const mode = String(calling["mode"]);
    if (!modes.includes(mode)) found.push(`Invalid mode ${mode}.`);
    if (names.size === 0) found.push("Function calling config is set without function_declarations.");
    const allowed = calling["allowedFunctionNames"];
    if (Array.isArray(allowed)) {
      if (mode !== "ANY" && mode !== "VALIDATED") found.push("allowedFunctionNames needs the mode ANY.");
      for (const name of allowed) if (!names.has(name)) found.push(`allowedFunctionNames names ${String(name)}, which is not declared.`);
    }
  }
  const thinking = plain(plain(body["generationConfig"])["thinkingConfig"]);
  if (thinking["thinkingLevel"] !== undefined && thinking["thinkingBudget"] !== undefined) found.push("Level and budget are both set.");
  return found;
}

/** The first call of each step has a signature. */
function signatureViolations(contents: readonly Thing[]): readonly string[] {
  return contents.flatMap((content, at) => {
    const first = partsIn(content).find((part) => part["functionCall"] !== undefined);
    return first && typeof first["thoughtSignature"] !== "string"
      ? [`Function call is missing a thought_signature in contents[${at}].`]
      : [];
  });
}

function partsIn(content: Thing | undefined): readonly Thing[] {
  return content ? listOf(content["parts"]) : [];
}

function fieldsIn(content: Thing | undefined, field: string): readonly Thing[] {
  return partsIn(content).flatMap((part) => (part[field] === undefined ? [] : [plain(part[field])]));
}

function namesIn(content: Thing | undefined, field: string): readonly unknown[] {
  return fieldsIn(content, field).map(({ name }) => name);
}

/** The wire takes both spellings of a name, and `null` for absent. */
function plain(value: unknown): Thing {
  if (typeof value !== "object" || value === null) return {};
  const members = Object.entries(value);
  if (members.every(([key, member]) => member !== null && !key.includes("_"))) return value as Thing;
  return Object.fromEntries(
    members
      .filter(([, member]) => member !== null)
      .map(([key, member]) => [key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()), member]),
  );
}

function listOf(value: unknown): readonly Thing[] {
  return Array.isArray(value) ? value.map(plain) : [];
}
