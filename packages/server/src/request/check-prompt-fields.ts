import { AgentError, type Json } from "@loopwright/core";

const promptField = /^(?:(?:system|developer)(?:_?(?:prompts?|messages?|instructions?))?|prompts?|instructions?|preamble)$/i;
/** The prompt fields of a request; permissions decide which callers may send them. */
const known: ReadonlySet<string> = new Set(["context.systemPrompt", "options.systemPrompt"]);

/**
 * Refuses every field with the name of a prompt that is not a field of requests. Such a field is not just ignored, so that its sender notices that it
 * has no effect. @throws AgentError INPUT_INVALID that names the field
 */
export function checkPromptFields(body: Json): void {
  for (const [name, value] of fieldsOf(body)) {
    check(name);
    if (name === "options" || name === "context") for (const [inner] of fieldsOf(value)) check(`${name}.${inner}`);
  }
}

function check(path: string): void {
  const name = path.slice(path.indexOf(".") + 1);
  if (known.has(path) || !promptField.test(name)) return;
  throw new AgentError("INPUT_INVALID", {
    message: `\`${path}\` is not a field of a request: prompts come from the server.`,
    fix: "Leave it out. Trusted callers may begin a session with `context.systemPrompt`, or send `options.systemPrompt` with an input.",
    details: { field: path },
  });
}

function fieldsOf(value: Json | undefined): readonly [string, Json][] {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}
