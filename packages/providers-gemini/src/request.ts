import { AgentError, type Json, type JsonObject, systemText } from "@loopwright/core";
import type { ModelCapabilities, ModelRequest, ToolSpec } from "@loopwright/core/ports";
import { effortOf } from "@loopwright/provider-kit";
import { isObject } from "./content.ts";
import { historyOf } from "./history.ts";
import { type GeminiModel, modelOf } from "./models.ts";
import type { GeminiOptions } from "./options.ts";

/** What of an instance goes into a request. */
export interface RequestContext extends Pick<GeminiOptions, "includeThoughts" | "safetySettings" | "serverTools"> {
  readonly capabilities: ModelCapabilities;
}

/**
 * The body of `generateContent` and `streamGenerateContent`.
 * @throws AgentError MODEL_UNSUPPORTED for images without vision, for reasoning without thinking, and for the wish for one call at a time.
 * @see https://ai.google.dev/api/generate-content (2026-11-21)
 */
export function bodyOf(request: ModelRequest, context: RequestContext): JsonObject {
  const model = modelOf(request.model);
  const contents = historyOf(request.messages, { ...model, vision: context.capabilities.vision });
  const tools = toolsOf(request, context);
  const mode = tools.length > 0 && request.tools?.length ? functionCallingOf(request) : undefined;
  const generation = generationOf(request, { model, includeThoughts: context.includeThoughts ?? true });
  const { safetySettings } = context;
  const system = systemText(request.system);
  const body: JsonObject = {
    contents: contents.map(({ role, parts }) => ({ role, parts })),
    ...(system === undefined ? {} : { systemInstruction: { parts: [{ text: system }] } }),
    ...(tools.length > 0 ? { tools } : {}),
    ...(mode ? { toolConfig: { functionCallingConfig: mode } } : {}),
    ...(safetySettings && safetySettings.length > 0 ? { safetySettings } : {}),
    ...(Object.keys(generation).length > 0 ? { generationConfig: generation } : {}),
  };
  return request.vendorOptions ? merged(body, request.vendorOptions) : body;
}

const declared = new WeakMap<ToolSpec, JsonObject>();

function toolsOf(request: ModelRequest, { capabilities, serverTools = [] }: RequestContext): readonly JsonObject[] {
  // A request without tools is meant so: the last turn of a limit, a summary.
  if (!capabilities.tools || !request.tools) return [];
  const functions = request.tools.map(declarationOf);
  return [...(functions.length > 0 ? [{ functionDeclarations: functions }] : []), ...serverTools];
}

function declarationOf(tool: ToolSpec): JsonObject {
  const known = declared.get(tool);
  if (known) return known;
  const { name, description, parameters } = tool;
  const schema = parameters["type"] === "object" ? parameters : { type: "object", ...parameters };
  const declaration = { name, ...(description === "" ? {} : { description }), parametersJsonSchema: schema };
  declared.set(tool, declaration);
  return declaration;
}

/** The wire has no option that keeps a model to one call. */
function functionCallingOf({ toolChoice, parallelToolCalls }: ModelRequest): JsonObject | undefined {
  if (parallelToolCalls === false && toolChoice !== "none") {
    throw new AgentError("MODEL_UNSUPPORTED", {
      message: "Gemini cannot be kept to one tool call at a time.",
      fix: "Leave `parallelToolCalls` out; `limits.parallelMax: 1` runs the calls one by one.",
    });
  }
  if (toolChoice === undefined) return undefined;
  if (typeof toolChoice === "object") return { mode: "ANY", allowedFunctionNames: [toolChoice.tool] };
  return { mode: ({ auto: "AUTO", none: "NONE", required: "ANY" } as const)[toolChoice] };
}

function generationOf(request: ModelRequest, { model, includeThoughts }: { model: GeminiModel; includeThoughts: boolean }): JsonObject {
  const { maxTokens, temperature, output } = request;
  const thinking = thinkingOf(request, { model, includeThoughts });
  return {
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
    ...(temperature === undefined || !model.sampling ? {} : { temperature }),
    ...(output ? { responseMimeType: "application/json", responseJsonSchema: output.schema } : {}),
    ...(thinking ? { thinkingConfig: thinking } : {}),
  };
}

/** Tokens for models that count them. @see https://ai.google.dev/gemini-api/docs/thinking (2026-11-21) */
const budgets = { minimal: 512, low: 1_024, medium: 8_192, high: 24_576 } as const;

/** Level and budget in one request are answered with 400, so each model gets its own. */
function thinkingOf(
  { reasoning }: ModelRequest,
  { model, includeThoughts }: { model: GeminiModel; includeThoughts: boolean },
): JsonObject | undefined {
  if (model.thinking === "none") {
    if (reasoning) throw cannotReason();
    return undefined;
  }
  const shown = includeThoughts ? { includeThoughts } : {};
  if (!reasoning) return includeThoughts ? shown : undefined;
  const { effort, budgetTokens } = reasoning;
  if (model.thinking === "budget") return { ...shown, thinkingBudget: budgetTokens ?? budgets[effort ?? "medium"] };
  const level = effortOf(reasoning);
  if (level === undefined) return includeThoughts ? shown : undefined;
  return { ...shown, thinkingLevel: level === "minimal" && !model.hasMinimal ? "low" : level };
}

const cannotReason = (): AgentError =>
  new AgentError("MODEL_UNSUPPORTED", {
    message: "The request asks for reasoning, and the model is not known to think.",
    fix: "Leave `reasoning` out, choose a model that thinks, or ask in its own words by `vendorOptions: { generationConfig: { thinkingConfig } }`.",
  });

/** The vendor's options win; objects are joined, so that one option of `generationConfig` does not drop the others. */
function merged(body: JsonObject, options: JsonObject): JsonObject {
  const result: { [key: string]: Json } = { ...body };
  for (const [key, value] of Object.entries(options)) {
    const known = result[key];
    result[key] = isObject(known) && isObject(value) ? merged(known, value) : value;
  }
  return result;
}
