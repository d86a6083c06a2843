import type { FactBody } from "../../../loop/fact.ts";
import type { State } from "../../../loop/state.ts";
import type { AgentSession } from "../../../protocol/execute.ts";
import { sessionHeld } from "../../../stores/session-held-error.ts";
import { repeatLastFact } from "../../observation/observe-facts.ts";
import { erasableAt } from "../../ownership/due-dates.ts";
import { recordCommand } from "./record-command.ts";
import type { CommandContext } from "./submit-input.ts";

/** Closes the session permanently; false if only an expired session was to be closed, and it is not. @throws AgentError SESSION_HELD */
export async function endSession(
  context: CommandContext,
  { erase, keepMs }: NonNullable<Parameters<AgentSession["end"]>[0]> = {},
): Promise<boolean> {
  const { sessionId, clock } = context.deps;
  const closed: FactBody = { type: "session.closed", ...(erase ? { erase: true } : {}) };
  let [mayEnd, wasClosed] = [true, false];
  const bodies = (state: State): readonly FactBody[] => {
    if (erase === "always" && state.hold) throw sessionHeld(sessionId, state.hold);
    mayEnd = erase !== "expired" || (erasableAt(state, keepMs) ?? Number.POSITIVE_INFINITY) <= clock.now();
    wasClosed = state.status === "closed";
    if (wasClosed || !mayEnd) return [];
    return state.status === "new" ? [context.opening, closed] : [closed];
  };
  await recordCommand(context, bodies, true);
  if (erase && wasClosed) await repeatLastFact(context.deps, context.driver.view.state);
  return mayEnd;
}
