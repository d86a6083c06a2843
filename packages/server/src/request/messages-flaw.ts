import { type AgentError, isAgentError } from "@loopwright/core";
import { checkContext, checkExecuteInput } from "@loopwright/core/protocol";

type Fields = { readonly [field: string]: unknown };

const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {});

/** What core says of the messages in a body, as it says it to a program that hands them in itself; `undefined`: nothing. */
export function messagesFlaw(body: unknown): AgentError | undefined {
  const { input, message, results, context } = fieldsOf(body);
  const { messages } = fieldsOf(context);
  try {
    for (const given of [input, message, results]) if (given !== undefined) checkExecuteInput(given);
    if (messages !== undefined) checkContext(messages);
    return undefined;
  } catch (error) {
    if (isAgentError(error)) return error;
    throw error;
  }
}
