import type { AgentEvent, CompletedResult } from "@loopwright/core/protocol";
import type { CallToolResult, InputRequiredResult, ServerContext } from "@modelcontextprotocol/server";
import type { z } from "zod";
import type { askSchema } from "./agent-tool-schemas.ts";
import { type CallSetup, runCall } from "./run-call.ts";

/** One call of an agent: its text is the progress and the answer. */
export function askAgent(
  { input, conversation }: z.infer<typeof askSchema>,
  context: ServerContext,
  setup: CallSetup & { readonly agent: string },
): Promise<CallToolResult | InputRequiredResult> {
  const asked = {
    ...{ agent: setup.agent, input, conversation },
    pieceOf: (event: AgentEvent) => (event.type === "text_delta" ? event.delta : undefined),
    resultOf: ({ text }: CompletedResult, session: string): CallToolResult => ({
      content: [{ type: "text", text }],
      structuredContent: { text, status: "completed", session },
    }),
  };
  return runCall(asked, context, setup);
}
