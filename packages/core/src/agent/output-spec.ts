import { AgentError } from "../errors.ts";
import type { JsonObject, JsonSchema } from "../message/json.ts";
import { jsonSchemaFrom } from "../tools/define-tool.ts";
import { isStandardSchema, type StandardSchema } from "../tools/standard-schema.ts";
import { type CheckedValue, checkValue, problemText } from "../tools/validate-arguments.ts";
import type { Invalid } from "./agent-limits.ts";

/** The form of an agent's answers. */
export interface OutputSpec<Output = unknown> {
  /** For the vendor: `[a-zA-Z0-9_-]{1,64}`. */
  readonly name: string;
  /** Sent to the vendor. Its root is an object. */
  readonly schema: JsonSchema;
  /** Checks the answer and returns `result.output`. Default: the JSON of the answer, checked against `schema`. */
  readonly check?: StandardSchema<Output>;
}

const namePattern = /^[a-zA-Z0-9_-]{1,64}$/;

/** @throws AgentError CONFIG_INVALID */
export function outputSpec<Output>(output: StandardSchema<Output> | OutputSpec<Output>, invalid: Invalid): OutputSpec<Output> {
  if (typeof output !== "object" && typeof output !== "function") throw invalid("`output` is no schema.", fixOfOutput);
  if (output !== null && isStandardSchema(output as StandardSchema<Output>)) {
    const check = output as StandardSchema<Output>;
    const unusable = (what: string): Error => invalid(`\`output\`: ${what}`, fixOfOutput);
    return { name: "answer", schema: jsonSchemaFrom(check, unusable), check };
  }
  const { name, schema } = (output ?? {}) as OutputSpec<Output>;
  if (typeof name !== "string" || !namePattern.test(name))
    throw invalid("`output.name` is not usable.", "Use 1 to 64 letters, digits, _ and -.");
  if (schema?.["type"] !== "object") throw invalid("the root of `output.schema` is not an object.", fixOfOutput);
  return output as OutputSpec<Output>;
}

const fixOfOutput =
  "Pass a Standard Schema of an object that has a JSON Schema (zod 4.2 or later), or `{ name, schema, check? }` with a JSON Schema.";

/** The error of an answer that does not fit. */
export const outputInvalid = (problem: string): AgentError => new AgentError("OUTPUT_INVALID", { message: problem });

/** The value of an answer, or what does not match, as a text for the model. */
export type ReadOutput = { readonly output: unknown; readonly problem?: never } | { readonly problem: string };

/** Reads the text of an answer as the output. Never throws or rejects. Returns a promise only if the schema is asynchronous. */
export function readOutput({ schema, check }: OutputSpec, text: string): ReadOutput | Promise<ReadOutput> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { problem: text.trim() === "" ? "The answer is empty." : "The answer is no JSON." };
  }
  if (typeof json !== "object" || json === null || Array.isArray(json)) return { problem: "The answer is no JSON object." };
  const read = (checked: CheckedValue): ReadOutput => {
    if ("thrown" in checked) return { problem: "The answer could not be checked: the schema of `output` threw an error." };
    if (checked.issues) return { problem: problemText("The answer does not fit the schema", checked.issues) };
    return { output: checked.value };
  };
  const checked = checkValue(check ?? schema, json as JsonObject);
  return checked instanceof Promise ? checked.then(read) : read(checked);
}
