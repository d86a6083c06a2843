import type { ExecuteOptions, Message } from "@loopwright/core/protocol";
import { checkAgentUse, checkOpaque } from "../permissions/check-agent-use.ts";
import type { RequestContext } from "../request/route.ts";
import type { SessionContext } from "../schemas/index.ts";
import { checkFiles } from "./files/check-files-of-messages.ts";

export interface InputUse {
  /** Name of the agent that will answer. Absent for results, because their run has its agent. */
  readonly agent?: string;
  readonly context?: SessionContext | undefined;
  readonly options?: Pick<ExecuteOptions, "model"> | undefined;
  readonly messages: readonly Message[];
}

/**
 * Passes if the caller may send the messages to the agent with these options, and the files in them exist.
 * @throws AgentError FORBIDDEN, AGENT_NOT_FOUND, PAYLOAD_TOO_LARGE, BLOB_UNKNOWN
 */
export async function admitInput(
  { principal, server }: Pick<RequestContext, "principal" | "server">,
  { agent, messages, ...use }: InputUse,
): Promise<void> {
  if (agent !== undefined) await checkAgentUse(principal, { agent, ...use }, server);
  checkOpaque(messages, principal);
  await checkFiles(messages, server, principal.scope);
}
