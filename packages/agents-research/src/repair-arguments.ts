import { type Hooks, type JsonObject, jsonSchemaOf, type ModelProvider, type ModelRequest, type Tool, type Usage } from "@loopwright/core";

/** The model that repairs arguments. */
export interface RepairOptions {
  /** Tools whose arguments are repaired. */
  readonly tools: readonly string[];
  readonly provider: ModelProvider;
  readonly model: string;
}

/**
 * Repairs arguments that are no JSON or do not fit the schema of the tool with one call of a model. Its usage counts for the run. What it cannot repair
 * stays as it is, so the model reads what is wrong.
 */
export function repairArguments({ tools, provider, model }: RepairOptions): Hooks {
  return {
    name: "repair-arguments",
    async parse({ call, text, tool, signal, addUsage, logger }) {
      if (!tool || !tools.includes(call.name) || (!call.problem && (await fits(tool, call.args)))) return undefined;
      const { text: answer, usage } = await ask(provider, { model, messages: [{ role: "user", content: question(tool, text) }] }, signal);
      if (usage) addUsage({ ...usage, provider: provider.name, model });
      const args = objectIn(answer);
      if (args && (await fits(tool, args))) return { args, reason: `${model} repaired the arguments.` };
      logger.log("warn", `The arguments of \`${call.name}\` could not be repaired by the model \`${model}\`.`);
      return undefined;
    },
  };
}

const question = (tool: Tool, text: string): string =>
  [
    `These arguments for the tool ${tool.name} are broken or do not fit its JSON Schema. Answer with the repaired JSON object alone.`,
    `Schema: ${JSON.stringify(jsonSchemaOf(tool))}`,
    `Arguments: ${text}`,
  ].join("\n");

async function fits({ parameters }: Tool, args: JsonObject): Promise<boolean> {
  if (!("~standard" in parameters)) return true;
  const schema = parameters as { readonly "~standard": { validate(value: unknown): { issues?: unknown } | Promise<{ issues?: unknown }> } };
  return (await schema["~standard"].validate(args)).issues === undefined;
}

interface Answer {
  readonly text: string;
  readonly usage?: Usage;
}

async function ask(provider: ModelProvider, request: ModelRequest, signal: AbortSignal): Promise<Answer> {
  let text = "";
  let usage: Usage | undefined;
  for await (const chunks of provider.stream(request, { signal, attempt: 1 }))
    for (const chunk of chunks) {
      if (chunk.type === "text") text += chunk.delta;
      else if (chunk.type === "usage") usage = { ...usage, ...chunk.usage };
    }
  return { text, ...(usage ? { usage } : {}) };
}

/** The JSON object between the first and the last brace. */
function objectIn(text: string): JsonObject | undefined {
  try {
    return JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1)) as JsonObject;
  } catch {
    return undefined;
  }
}
