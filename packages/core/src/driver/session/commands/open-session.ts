import { recordCommand } from "./record-command.ts";
import type { CommandContext } from "./submit-input.ts";

/** Records the opening; false if the log has an opening. */
export async function openSession(context: CommandContext): Promise<boolean> {
  let isNew = false;
  await recordCommand(context, ({ status }) => {
    isNew = status === "new";
    return isNew ? [context.opening] : [];
  });
  return isNew;
}
