import type { Json, JsonObject } from "@loopwright/core";

/** The text of what a message was made into, as long as that lives. */
const texts = new WeakMap<JsonObject, string>();

/** The body as JSON text. Messages that were sent before are not written again: a turn costs its new ones and a copy of the rest. */
export function bodyText(body: JsonObject): string {
  const members: string[] = [];
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue;
    const isHistory = (name === "messages" || name === "input") && Array.isArray(value);
    members.push(`${JSON.stringify(name)}:${isHistory ? historyText(value) : JSON.stringify(value)}`);
  }
  return `{${members.join(",")}}`;
}

const historyText = (messages: readonly Json[]): string => `[${messages.map(textOf).join(",")}]`;

function textOf(message: Json): string {
  if (typeof message !== "object" || message === null || Array.isArray(message)) return JSON.stringify(message);
  let text = texts.get(message as JsonObject);
  if (text === undefined) {
    text = JSON.stringify(message);
    texts.set(message as JsonObject, text);
  }
  return text;
}
