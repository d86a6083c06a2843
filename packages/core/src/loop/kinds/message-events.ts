import type { Message, MessageId } from "../../message/message.ts";
import { at } from "../append-list.ts";
import type { DurableBody, PendingApproval, PendingToolCall } from "../event.ts";
import type { Call, State } from "../state.ts";

/** The two events of a message that is not streamed. */
export const ofMessage = (messageId: MessageId, parent: MessageId | null, message: Message): readonly DurableBody[] => [
  { type: "message_start", messageId, role: message.role },
  { type: "message_end", messageId, parent, message },
];

/** The message that the next message of the open run continues. */
export const tipId = (state: State): MessageId | null => at(state.history, state.run?.tip ?? state.head)?.id ?? null;

/** A call that waits for a client, in the form for events and results. */
export function pendingCall(call: Call, deadline: number | undefined): PendingToolCall {
  const { id, callKey, name, args } = call.part;
  return { toolCallId: id, callKey, toolName: name, args: call.args ?? args, ...(deadline === undefined ? {} : { deadline }) };
}

/** A call that is awaiting approval, in the form for events and results. */
export function pendingApproval({ part, args, asking, deadline }: Call): PendingApproval {
  return {
    toolCallId: part.id,
    callKey: part.callKey,
    toolName: part.name,
    args: args ?? part.args,
    argsDigest: asking?.argsDigest ?? "",
    ...(asking?.reason === undefined ? {} : { reason: asking.reason }),
    ...(deadline === undefined ? {} : { deadline }),
  };
}
