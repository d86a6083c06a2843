import type { Json, JsonObject, JsonSchema } from "../message/json.ts";
import { cutText } from "./cut-text.ts";
import { isStandardSchema, type StandardResult, type StandardSchema } from "./standard-schema.ts";
import { toolLimits } from "./tool-limits.ts";
import type { AnyTool } from "./tool-registry.ts";

/** Arguments as the tool's schema returns them, or the problem, as a text for the model. */
export type ValidatedArguments =
  | { readonly args: unknown; readonly problem?: never }
  | { readonly problem: string; readonly args?: never /** The error that the schema threw. */; readonly thrown?: unknown };

/**
 * Checks the arguments of a call against the tool's schema, at once unless the schema is asynchronous. Never throws or rejects.
 *
 * A Standard Schema decides alone, and the tool gets the value that it returns (with defaults and transformations). Plain JSON
 * Schema is checked by shape only: `required`, and for each property at the top its `type` and `enum` or `const`, and
 * `additionalProperties: false` if there are no `patternProperties`. Nested properties, references, formats, ranges
 * and combinations are left to the tool.
 */
export function validateArguments(tool: AnyTool, args: JsonObject): ValidatedArguments | Promise<ValidatedArguments> {
  const named = (checked: CheckedValue): ValidatedArguments => {
    if ("thrown" in checked) {
      const { thrown } = checked;
      const kind = thrown instanceof Error ? thrown.name : typeof thrown;
      return { problem: `The arguments could not be checked: the schema of \`${tool.name}\` failed with ${kind}.`, thrown };
    }
    if (checked.issues) return { problem: problemText("The arguments do not fit the tool's schema", checked.issues) };
    return { args: checked.value };
  };
  const checked = checkValue(tool.parameters, args);
  return checked instanceof Promise ? checked.then(named) : named(checked);
}

/** A value as a schema returns it, its issues, or the error that the schema threw. */
export type CheckedValue =
  | { readonly value: unknown; readonly issues?: never }
  | { readonly issues: readonly string[] }
  | { readonly thrown: unknown; readonly issues?: never };

/** Checks an object as `validateArguments` does. Never throws or rejects. */
export function checkValue(schema: StandardSchema | JsonSchema, value: JsonObject): CheckedValue | Promise<CheckedValue> {
  if (!isStandardSchema(schema)) {
    const issues = shapeIssues(schema, value);
    return issues.length === 0 ? { value } : { issues };
  }
  const broken = (error: unknown): CheckedValue => ({ thrown: error ?? new TypeError("It threw nothing.") });
  const checked = (result: StandardResult<unknown>): CheckedValue =>
    result.issues ? { issues: result.issues.map(issueText) } : { value: result.value };
  try {
    const result = schema["~standard"].validate(value);
    return result instanceof Promise ? result.then(checked).catch(broken) : checked(result);
  } catch (error) {
    return broken(error);
  }
}

type Issue = NonNullable<StandardResult<unknown>["issues"]>[number];

function issueText(issue: Issue): string {
  const path = (issue.path ?? []).map((step) => (typeof step === "object" ? step.key : step));
  let at = "";
  for (const step of path) at += typeof step === "number" ? `[${step}]` : at === "" ? String(step) : `.${String(step)}`;
  return at === "" ? issue.message : `\`${at}\`: ${issue.message}`;
}

/** What the model reads about a wrong value. */
export function problemText(what: string, issues: readonly string[]): string {
  const shown = issues.slice(0, toolLimits.problemIssuesMax).map((issue) => `- ${issue}`);
  if (issues.length > shown.length) shown.push(`- and ${issues.length - shown.length} more`);
  return cutText(`${what}:\n${shown.join("\n")}`, toolLimits.problemTextMax);
}

function shapeIssues(schema: JsonSchema, args: JsonObject): readonly string[] {
  const issues: string[] = [];
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  for (const name of Array.isArray(schema["required"]) ? schema["required"] : []) {
    if (typeof name === "string" && !Object.hasOwn(args, name)) issues.push(`\`${name}\`: required, but missing`);
  }
  const closed = schema["additionalProperties"] === false && schema["patternProperties"] === undefined;
  for (const [name, value] of Object.entries(args)) {
    if (Object.hasOwn(properties, name)) {
      const issue = valueIssue(properties[name], value);
      if (issue) issues.push(`\`${name}\`: ${issue}`);
    } else if (closed) issues.push(`\`${name}\`: not a parameter of this tool`);
  }
  return issues;
}

function valueIssue(schema: Json | undefined, value: Json): string | undefined {
  if (schema === false) return "not allowed";
  if (!isObject(schema)) return undefined;
  const { type, enum: allowed } = schema as { readonly type?: Json; readonly enum?: Json };
  const types = (Array.isArray(type) ? type : [type]).filter((name) => typeof name === "string");
  if (types.length > 0 && !types.some((name) => isOfType(name, value))) return `expected ${types.join(" or ")}, received ${typeOf(value)}`;
  const equals = (option: Json | undefined): boolean => JSON.stringify(option) === JSON.stringify(value);
  if (Array.isArray(allowed) && !allowed.some(equals)) return `expected one of ${JSON.stringify(allowed)}`;
  if (Object.hasOwn(schema, "const") && !equals(schema["const"])) return `expected ${JSON.stringify(schema["const"])}`;
  return undefined;
}

function isOfType(type: string, value: Json): boolean {
  if (type === "integer") return Number.isInteger(value);
  return typeOf(value) === type;
}

function typeOf(value: Json): string {
  return value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
