import { errorTable, isAgentError } from "@loopwright/core/protocol";
import { errorOf } from "./ag-ui-events.ts";

/** A request that is refused before anything runs. */
class RunRefused extends Error {}

/** @throws RunRefused */
export function refuse(message: string): never {
  throw new RunRefused(message);
}

/** A refusal, with the message that the SDK shows. @throws any error that is neither a refusal nor an AgentError */
export function refusalOf(error: unknown): Response {
  if (error instanceof RunRefused) return Response.json({ message: error.message, code: "INPUT_INVALID" }, { status: 400 });
  const { type: _, ...refusal } = errorOf(error);
  const status = isAgentError(error) && Object.hasOwn(errorTable, error.code) ? errorTable[error.code].status : 500;
  return Response.json(refusal, { status });
}
