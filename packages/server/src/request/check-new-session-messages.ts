import { type AgentError, isAgentError } from "@loopwright/core";
import { checkContext } from "@loopwright/core/protocol";

type Fields = { readonly [field: string]: unknown };

const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {});

/** The error of core about the messages of a new session, with the same message as in process; `undefined` if they are valid. */
export function contextFlaw(body: unknown): AgentError | undefined {
  const { messages } = fieldsOf(fieldsOf(body)["context"]);
  try {
    if (messages !== undefined) checkContext(messages);
    return undefined;
  } catch (error) {
    if (isAgentError(error)) return error;
    throw error;
  }
}
