/*
 * Owns: A2A 0.3 on the wire, for remote agents that speak nothing newer: requests differ by the names of their methods and a few fields, answers carry a `kind`, and
 * states are words.
 */
import type { Json, JsonObject } from "@loopwright/core";
import { isObject } from "./remote-task.ts";

const methods: { readonly [method: string]: string } = {
  SendMessage: "message/send",
  SendStreamingMessage: "message/stream",
  GetTask: "tasks/get",
  CancelTask: "tasks/cancel",
  SubscribeToTask: "tasks/resubscribe",
};

/** A request of 1.0 as one of 0.3. */
export function legacyRequest(method: string, { message, configuration, ...params }: JsonObject): JsonObject {
  const { returnImmediately, ...options } = isObject(configuration) ? configuration : {};
  const blocking = returnImmediately === undefined ? {} : { blocking: returnImmediately !== true };
  const sent = isObject(message) ? { message: legacyMessage(message), configuration: { ...options, ...blocking } } : {};
  return { method: methods[method] ?? method, params: { ...params, ...sent } };
}

function legacyMessage({ parts, ...message }: JsonObject): JsonObject {
  const all = Array.isArray(parts) ? parts.filter(isObject) : [];
  return { ...message, kind: "message", role: "user", parts: all.map((part) => ({ kind: "text" in part ? "text" : "data", ...part })) };
}

const kinds: { readonly [kind: string]: string } = {
  task: "task",
  message: "message",
  "status-update": "statusUpdate",
  "artifact-update": "artifactUpdate",
};

/** A result or an event of 0.3 as one of 1.0. */
export function modernResult(result: JsonObject): JsonObject {
  const kind = kinds[String(result["kind"])];
  return kind === undefined ? result : { [kind]: { ...result, ...("status" in result ? { status: modernStatus(result["status"]) } : {}) } };
}

function modernStatus(status: Json | undefined): JsonObject {
  const { state, ...more } = isObject(status) ? status : {};
  return { ...more, state: `TASK_STATE_${String(state).toUpperCase().replaceAll("-", "_")}` };
}
