import type { MessageId, ToolResultMessage, UserMessage } from "../message/message.ts";

/**
 * What begins or continues a run: a user's message, the results of pending client calls, or `{ regenerate }`: the user
 * message to answer again, as a branch.
 */
export type ExecuteInput = string | UserMessage | readonly ToolResultMessage[] | { readonly regenerate: MessageId };
