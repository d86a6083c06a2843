import { AgentError } from "../errors.ts";
import type { JsonObject, JsonSchema } from "../message/json.ts";
import { shownId } from "../message/shown-id.ts";
import { isStandardSchema, type StandardSchema } from "./standard-schema.ts";
import type { NeedsResources, Tool, ToolContext, ToolEvent, ToolOutput, ToolReturn } from "./tool.ts";

/** The arguments that a schema lets through; any JSON object for plain JSON Schema. */
export type ArgsOf<Schema> = Schema extends StandardSchema<infer Output> ? Output : JsonObject;

/** A tool whose arguments are inferred from its schema. */
export type ToolDefinition<Schema extends StandardSchema | JsonSchema, Resources> = Omit<
  Tool<ArgsOf<Schema>, Resources>,
  "parameters" | "execute"
> & {
  readonly parameters: Schema;
  execute?(args: ArgsOf<Schema>, context: ToolContext<Resources>): ToolReturn;
};

const namePattern = /^[a-zA-Z0-9_-]{1,64}$/;

/** Names that objects have by themselves. */
export const reservedNames: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** True for a name that every vendor takes. */
export const isToolName = (name: unknown): name is string => typeof name === "string" && namePattern.test(name) && !reservedNames.has(name);

const timeoutMaxMs = 2 ** 31 - 1;

/**
 * Checks the definition. @throws AgentError CONFIG_INVALID when the name, description, schema or a limit is missing or wrong.
 * @example defineTool({ name: "add", description: "Adds two numbers.", parameters: z.object({ a: z.number(), b: z.number() }), execute: ({ a, b }) => a + b })
 */
export function defineTool<const Schema extends StandardSchema | JsonSchema, Resources = unknown>(
  definition: ToolDefinition<Schema, Resources>,
): Tool<ArgsOf<Schema>, Resources> {
  const { name, description, parameters } = definition ?? {};
  const invalid = (what: string, fix: string): AgentError =>
    new AgentError("CONFIG_INVALID", {
      message: `Tool \`${shownId(String(name))}\`: ${what}`,
      fix,
      details: { tool: shownId(String(name)) },
    });
  if (!isToolName(name)) throw invalid("the name is not usable.", "Use 1 to 64 of a-z, A-Z, 0-9, _ and -, and no name like `constructor`.");
  if (typeof description !== "string" || description.trim() === "")
    throw invalid("the description is missing.", "Say in a sentence what the tool does and when to use it.");
  if (typeof parameters !== "object" || parameters === null)
    throw invalid("`parameters` is missing.", "Pass a Standard Schema (zod) or a JSON Schema object.");
  const { timeoutMs } = definition;
  if (timeoutMs !== undefined && !(timeoutMs >= 0 && timeoutMs <= timeoutMaxMs))
    throw invalid("`timeoutMs` is out of range.", `Use 0 to ${timeoutMaxMs}.`);
  jsonSchemaOf(definition);
  return definition as Tool<ArgsOf<Schema>, Resources>;
}

/** `defineTool` with the type of `context.resources`. */
export type DefineTool<Resources> = <const Schema extends StandardSchema | JsonSchema>(
  definition: ToolDefinition<Schema, Resources>,
) => Tool<ArgsOf<Schema>, Resources> & NeedsResources<Resources>;

/**
 * `defineTool` for tools that use `context.resources`. An agent takes them only with `resources` of this type.
 * @example
 * const defineTool = defineTools<{ readonly db: Database }>();
 * const count = defineTool({ name: "count", description: "Counts the rows.", parameters: z.object({}), execute: (_, { resources }) => resources.db.count() });
 */
export function defineTools<Resources>(): DefineTool<Resources> {
  return defineTool;
}

/** What the handler of `createSimpleTool` returns. */
export interface SimpleOutput {
  readonly output: ToolOutput;
  readonly details?: unknown;
}

/** Makes a tool from a handler that returns `{ output, details? }`: a short form of `defineTool`. */
export function createSimpleTool<const Schema extends StandardSchema | JsonSchema, Resources = unknown>(
  config: Omit<ToolDefinition<Schema, Resources>, "execute">,
  handler: (args: ArgsOf<Schema>, context: ToolContext<Resources>) => SimpleOutput | Promise<SimpleOutput>,
): Tool<ArgsOf<Schema>, Resources> {
  const execute = async (args: ArgsOf<Schema>, context: ToolContext<Resources>): Promise<Extract<ToolEvent, { type: "complete" }>> => ({
    type: "complete",
    ...(await handler(args, context)),
  });
  return defineTool<Schema, Resources>({ ...config, execute } as ToolDefinition<Schema, Resources>);
}

/**
 * The JSON Schema that a model gets. @throws AgentError CONFIG_INVALID when a Standard Schema has none or the root is no object.
 */
export function jsonSchemaOf(tool: Pick<Tool, "name"> & { readonly parameters: StandardSchema | JsonSchema }): JsonSchema {
  const { parameters } = tool;
  const invalid = (what: string, cause?: unknown): AgentError =>
    new AgentError("CONFIG_INVALID", {
      message: `Tool \`${shownId(String(tool.name))}\`: ${what}`,
      fix: "Use zod 4.2 or later (or another Standard Schema with JSON Schema), or pass a JSON Schema whose `type` is `object`.",
      cause,
    });
  if (typeof parameters !== "object" || parameters === null) throw invalid("`parameters` is missing.");
  return jsonSchemaFrom(parameters, invalid);
}

/** The JSON Schema of a schema whose root is an object. Throws the error that `invalid` makes. */
export function jsonSchemaFrom(given: StandardSchema | JsonSchema, invalid: (what: string, cause?: unknown) => Error): JsonSchema {
  let schema: JsonSchema;
  if (isStandardSchema(given)) {
    const convert = given["~standard"].jsonSchema;
    if (!convert) throw invalid(`its ${given["~standard"].vendor} schema has no JSON Schema form.`);
    try {
      schema = convert.input({ target: "draft-2020-12" }) as JsonSchema;
    } catch (cause) {
      throw invalid("its schema cannot be expressed as JSON Schema.", cause);
    }
  } else schema = given;
  if (schema?.["type"] !== "object") throw invalid("the root of its schema is not an object.");
  return schema;
}
