import type { Json, JsonObject } from "@loopwright/core";

/**
 * What a request breaks of Acme's rules, in words; empty when Acme would accept it. Written from its documentation, without a look at `request.ts`.
 * @see https://docs.acme.example/chat/turns (2026-11-21)
 */
export function violationsOf(body: JsonObject): readonly string[] {
  const found: string[] = [];
  const turns = array(body["messages"]).map(object);
  if (turns.length === 0) found.push("messages are required");
  if (turns.length > 0 && turns[0]?.["role"] !== "user") found.push("messages.0: the first turn is the user's");
  let open: readonly Json[] = [];
  for (const [at, turn] of turns.entries()) {
    const { role, call } = turn;
    const report = (rule: string): void => void found.push(`messages.${at}: ${rule}`);
    if (role !== "user" && role !== "assistant" && role !== "tool") report(`no role is called ${JSON.stringify(role)}`);
    if (role === "tool") {
      if (open[0] === undefined || call !== open[0]) report("the result is not that of the next call");
      open = open.slice(1);
    } else {
      if (open.length > 0) report(`${open.length} calls have no result`);
      if (role === turns[at - 1]?.["role"]) report(`two turns of the ${role} in a row`);
      open = array(turn["content"]).flatMap((part) => (object(part)["call"] === undefined ? [] : [object(part)["call"] as Json]));
    }
    checkParts(array(turn["content"]).map(object), report);
  }
  if (open.length > 0) found.push("the last calls have no result");
  return found;
}

function checkParts(parts: readonly JsonObject[], report: (rule: string) => void): void {
  if (parts.length === 0) report("a turn has content");
  for (const part of parts) {
    if ("text" in part && (typeof part["text"] !== "string" || part["text"].trim() === "")) report("a text is not blank");
    if ("call" in part && typeof part["call"] !== "string") report("a call has an id");
    if ("call" in part && (typeof part["arguments"] !== "object" || Array.isArray(part["arguments"]))) report("arguments are an object");
    if ("thought" in part && part["seal"] === undefined) report("a thought has a seal");
  }
}

function array(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function object(value: Json | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
