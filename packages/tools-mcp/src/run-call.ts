import {
  isAgentError,
  type Json,
  type JsonObject,
  type ProgressHandle,
  type Tool,
  type ToolContext,
  type ToolEvent,
} from "@loopwright/core";
import { ProtocolError } from "@modelcontextprotocol/client";
import { mcpError, reasonOf } from "./mcp-error.ts";
import { isStdio, type McpServer } from "./mcp-server.ts";
import { type OfferedTool, schemaOf } from "./offered-tool.ts";
import { resultParts } from "./result-parts.ts";
import type { ServerLink } from "./server-link.ts";
import { serverBlock, visible } from "./server-text.ts";

const timeoutDefaultMs = 120_000;
/** The runtime waits a little longer than the SDK, so that the error names the server. */
const graceMs = 5_000;
const titleMax = 200;

/** The tool for core. Its calls go over the link of the run. */
export function toolOf(offered: OfferedTool, server: McpServer, link: ServerLink): Tool<JsonObject> {
  const { timeoutMs = timeoutDefaultMs, replay = "once", approval = false } = server;
  const asks = approval === true || (approval === "hints" && !offered.isReadOnly);
  return {
    name: offered.name,
    description: offered.description,
    label: `${offered.server}: ${offered.title}`,
    parameters: schemaOf(offered.parameters),
    replay,
    timeoutMs: timeoutMs + graceMs,
    ...(asks ? { approval: `Tool "${offered.original.slice(0, 80)}" of the MCP server "${offered.server}" (${sourceOf(server)})` } : {}),
    execute: (args, context) => runCall(offered, { args, context, link, timeoutMs }),
  };
}

/** Where a server is, for people: without what may be a secret in its address or its arguments. */
const sourceOf = (server: McpServer): string => (isStdio(server) ? server.command : new URL(server.url).origin);

interface CallSetup {
  readonly args: JsonObject;
  readonly context: ToolContext;
  readonly link: ServerLink;
  readonly timeoutMs: number;
}

async function* runCall({ server, original }: OfferedTool, { args, context, link, timeoutMs }: CallSetup): AsyncGenerator<ToolEvent, void> {
  const { signal } = context;
  const { redaction } = link;
  const clean = (text: string): string => redaction.text(visible(text));
  let step: ProgressHandle | undefined;
  try {
    const result = await link.call(original, args, {
      signal,
      timeoutMs,
      onProgress({ progress, total, message }) {
        const figures = total === undefined ? String(progress) : `${progress} of ${total}`;
        const title = message === undefined ? figures : `${clean(message)} (${figures})`;
        step ??= context.progress(`${server}: ${original.slice(0, 80)}`);
        step.update(title.slice(0, titleMax));
      },
    });
    const output = resultParts(server, result, redaction);
    if (result.isError) {
      for (const part of output) if (part.type === "text") yield { type: "delta", delta: `${part.text}\n` };
      throw mcpError("tool_error", server);
    }
    const structured = result.structuredContent === undefined ? {} : { structured: redaction.json(result.structuredContent as Json) };
    yield { type: "complete", output: output.length === 0 ? "" : output, details: { server, tool: original, ...structured } };
  } catch (error) {
    step?.end("failed");
    signal.throwIfAborted();
    if (isAgentError(error)) throw error;
    if (error instanceof ProtocolError)
      yield { type: "delta", delta: `${serverBlock(server, clean(error.message).slice(0, titleMax * 5))}\n` };
    throw mcpError(reasonOf(error), server);
  }
}
