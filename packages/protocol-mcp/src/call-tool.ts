import type { JsonObject, StandardSchema, Tool } from "@loopwright/core";
import type { AgentEvent, CompletedResult, ResultPart } from "@loopwright/core/protocol";
import {
  type CallToolResult,
  fromJsonSchema,
  type InputRequiredResult,
  type JsonSchemaType,
  type ServerContext,
  type StandardSchemaWithJSON,
} from "@modelcontextprotocol/server";
import { type CallSetup, runCall } from "./run-call.ts";
import { inputOfCall } from "./tool-agent.ts";

/** True for a tool that runs on the server. */
export const isServerTool = ({ execute, visibility }: Tool): boolean => execute !== undefined && visibility !== "client";

/** The schema of its arguments. They pass unchanged: the tool's own schema reads them when the call runs. */
export function argumentsOf({ parameters }: Tool): StandardSchemaWithJSON<JsonObject> {
  const schema = isStandard(parameters) ? parameters["~standard"].jsonSchema?.input({ target: "draft-2020-12" }) : parameters;
  return fromJsonSchema<JsonObject>((schema ?? { type: "object" }) as JsonSchemaType);
}

const isStandard = (parameters: Tool["parameters"]): parameters is StandardSchema => "~standard" in parameters;

/** One call of a tool: what it writes while it runs is the progress, and its output the result. */
export function callTool(
  tool: { readonly agent: string; readonly name: string; readonly args: JsonObject },
  context: ServerContext,
  setup: CallSetup,
): Promise<CallToolResult | InputRequiredResult> {
  const { agent, name, args } = tool;
  const asked = {
    ...{ agent, input: inputOfCall(name, args) },
    pieceOf: (event: AgentEvent) => (event.type === "tool_execution_delta" ? event.delta : undefined),
    resultOf: outputOf,
  };
  return runCall(asked, context, setup);
}

function outputOf({ messages }: CompletedResult): CallToolResult {
  const result = messages.findLast((message) => message.role === "tool_result");
  const { content = "", isError = false } = result ?? {};
  const parts: readonly ResultPart[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return { content: parts.map(blockOf), ...(isError ? { isError } : {}) };
}

function blockOf(part: ResultPart): CallToolResult["content"][number] {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type === "json") return { type: "text", text: JSON.stringify(part.value) };
  const { data, url, blob = "" } = part.source;
  if (data !== undefined && part.type === "image") return { type: "image", data, mimeType: part.mediaType };
  const uri = url ?? `urn:loopwright:blob:${blob}`;
  if (data !== undefined) return { type: "resource", resource: { uri, blob: data, mimeType: part.mediaType } };
  return { type: "resource_link", uri, name: part.type === "file" ? (part.name ?? "file") : "image", mimeType: part.mediaType };
}
