import { AgentError } from "../../../errors.ts";
import { placeOf } from "../../../loop/fold-inputs.ts";
import type { MessageId } from "../../../message/message.ts";
import { shownId } from "../../../message/shown-id.ts";
import { recordOpenCommand } from "./record-command.ts";
import type { CommandContext } from "./submit-input.ts";

/** @throws AgentError INPUT_INVALID, SESSION_CLOSED */
export async function moveHead(context: CommandContext, to: MessageId | null): Promise<void> {
  await recordOpenCommand(context, (state) => {
    if (placeOf(state, to) !== undefined) return [{ type: "head.moved", to }];
    throw noMessage(to);
  });
}

const noMessage = (id: MessageId | null): AgentError =>
  new AgentError("INPUT_INVALID", {
    message: `There is no message \`${shownId(String(id))}\`.`,
    fix: "Take an id from `session.messageIds`.",
  });
