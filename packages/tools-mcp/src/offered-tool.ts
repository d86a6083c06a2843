/*
 * Owns: a tool of a server as an agent is offered it: its name, its description, its schema, its digest. Does not own: its calls (run-call).
 */
import { createHash } from "node:crypto";
import { findJsonFlaw, type Json, type JsonObject, jsonDepthMax, type StandardSchema } from "@loopwright/core";
import type { JsonSchemaType, Tool as ServerTool } from "@modelcontextprotocol/client";
import { looseValidator } from "./loose-validator.ts";
import type { McpLimits } from "./mcp-limits.ts";
import { visible } from "./server-text.ts";

/** A tool that a server lists. */
export interface OfferedTool {
  /** `<server>__<tool>`: what the model calls it. */
  readonly name: string;
  readonly server: string;
  /** What the server calls it. */
  readonly original: string;
  readonly title: string;
  readonly description: string;
  readonly parameters: JsonObject;
  /** Of name, title, description and schema: it changes with any of them. */
  readonly digest: string;
  /** The server's own word on whether it changes anything. */
  readonly isReadOnly: boolean;
}

const nameMax = 64;
const digestLength = 16;
const titleMax = 80;

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, digestLength);

/** The tool as it is offered; a text where it is not, with the reason. */
export function offeredTool(
  server: string,
  tool: ServerTool,
  limits: Pick<McpLimits, "descriptionMax" | "schemaMax">,
): OfferedTool | string {
  const flaw = findJsonFlaw(tool.inputSchema) ?? findJsonFlaw(tool.outputSchema ?? null);
  if (flaw === "too_deep") return `its schema nests deeper than ${jsonDepthMax} levels`;
  if (flaw) return "its schema cannot be read";
  const schema = JSON.stringify(tool.inputSchema);
  if (schema.length > limits.schemaMax) return `its schema has more than ${limits.schemaMax} characters`;
  const parameters = cleaned(JSON.parse(schema) as Json) as JsonObject;
  if (parameters["type"] !== "object") return "its schema is not that of an object";
  const title = visible(tool.title ?? tool.annotations?.title ?? tool.name).slice(0, titleMax);
  const text = visible(tool.description ?? "")
    .slice(0, limits.descriptionMax)
    .trim();
  return {
    name: offeredName(server, tool.name),
    ...{ server, original: tool.name, title, parameters },
    description: `Tool of the MCP server "${server}", which describes it so: ${text === "" ? title : text}`,
    digest: digestOf(JSON.stringify(sorted([tool.name, tool.title ?? "", tool.description ?? "", JSON.parse(schema) as Json]))),
    isReadOnly: tool.annotations?.readOnlyHint === true,
  };
}

/** A name that every vendor takes. One that had to be changed ends with a digest, so that two never become one. */
export function offeredName(server: string, original: string): string {
  const name = `${server}__${original}`;
  const plain = name.replace(/[^a-zA-Z0-9_-]/g, "_");
  if (plain === name && name.length <= nameMax) return name;
  return `${plain.slice(0, nameMax - 9)}_${digestOf(name).slice(0, 8)}`;
}

/** Without characters that people do not see, in names too. */
function cleaned(value: Json): Json {
  if (typeof value === "string") return visible(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: Json) => cleaned(item));
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [visible(name), cleaned(item as Json)]));
}

/** With members by name, so that their order is no change. */
function sorted(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: Json) => sorted(item));
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, item]) => [name, sorted(item as Json)]));
}

/** The schema for core: it checks whole values, as the tool's JSON Schema describes them. */
export function schemaOf(parameters: JsonObject): StandardSchema<JsonObject> {
  let check: ReturnType<typeof looseValidator.getValidator<JsonObject>> | undefined;
  return {
    "~standard": {
      version: 1,
      vendor: "mcp",
      validate(value) {
        check ??= looseValidator.getValidator<JsonObject>(parameters as JsonSchemaType);
        const { valid, errorMessage = "It does not fit." } = check(value);
        return valid ? { value: value as JsonObject } : { issues: [{ message: errorMessage }] };
      },
      jsonSchema: { input: () => ({ ...parameters }) },
    },
  };
}
