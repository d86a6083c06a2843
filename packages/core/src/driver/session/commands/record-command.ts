import type { FactBody } from "../../../loop/fact.ts";
import type { State } from "../../../loop/state.ts";
import { sessionClosed } from "../../setup/session-errors.ts";
import type { CommandContext } from "./submit-input.ts";

/** Records the facts of a command. Any handle may record one, also a handle that does not own the session. */
export const recordCommand = (
  { driver }: CommandContext,
  bodies: (state: State) => readonly FactBody[],
  mayStop = false,
): Promise<unknown> => driver.offer({ bodies, needsOwner: false, mayStop });

/** Like `recordCommand`, for a command that a closed session refuses. @throws AgentError SESSION_CLOSED */
export const recordOpenCommand = (context: CommandContext, bodies: (state: State) => readonly FactBody[]): Promise<unknown> =>
  recordCommand(context, (state) => {
    if (state.status === "closed") throw sessionClosed(context.deps.sessionId);
    return bodies(state);
  });
