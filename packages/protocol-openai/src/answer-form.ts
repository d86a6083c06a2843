import type { Json, JsonObject } from "@loopwright/core/protocol";
import { isObject } from "./chat-messages.ts";
import { refuse } from "./openai-error.ts";

/** The form of an answer, as a run takes it. */
export interface AnswerForm {
  readonly name: string;
  readonly schema: JsonObject;
}

/** Reads the form that a request asks for; `undefined`: text. `given` has `type` and, for `json_schema`, `name` and `schema`. @throws RequestRefused that names the field */
export function answerFormOf(given: Json | undefined, field: string): AnswerForm | undefined {
  if (given === undefined || given === null) return undefined;
  if (!isObject(given)) return refuse(field, "send an object with a `type`.");
  const { type, name, schema } = given;
  if (type === "text") return undefined;
  if (type === "json_object") return { name: "answer", schema: { type: "object" } };
  if (type !== "json_schema") return refuse(field, "use `text`, `json_object` or `json_schema`.", "unsupported_value");
  if (typeof name !== "string" || !/^[a-zA-Z0-9_-]{1,64}$/.test(name))
    return refuse(`${field}.name`, "use 1 to 64 letters, digits, _ and -.");
  if (!isObject(schema) || schema["type"] !== "object") return refuse(`${field}.schema`, "send a JSON schema whose root is an object.");
  return { name, schema };
}
