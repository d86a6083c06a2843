import { AgentError } from "../../../errors.ts";
import type { FactBody } from "../../../loop/fact.ts";
import type { AgentSession } from "../../../protocol/execute.ts";
import { recordOpenCommand } from "./record-command.ts";
import type { CommandContext } from "./submit-input.ts";

/** Sets or lifts a legal hold; false if that changes nothing. @throws AgentError INPUT_INVALID, SESSION_CLOSED */
export async function changeHold(
  context: CommandContext,
  held: boolean,
  { reason, by = context.deps.access.user }: NonNullable<Parameters<AgentSession["hold"]>[0]> = {},
): Promise<boolean> {
  if (reason !== undefined && (typeof reason !== "string" || reason.length > holdReasonMax))
    throw new AgentError("INPUT_INVALID", { message: `The reason of a hold is text of at most ${holdReasonMax} characters.` });
  let isChanged = false;
  const body: FactBody = { type: "hold.changed", held, ...(reason === undefined ? {} : { reason }), by };
  await recordOpenCommand(context, ({ status, hold }) => {
    isChanged = held ? hold === undefined || hold.reason !== reason : hold !== undefined;
    if (!isChanged) return [];
    return status === "new" ? [context.opening, body] : [body];
  });
  return isChanged;
}

const holdReasonMax = 1_000;
