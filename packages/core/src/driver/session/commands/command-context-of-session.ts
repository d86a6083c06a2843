import { AgentError } from "../../../errors.ts";
import type { AgentSession } from "../../../protocol/execute.ts";
import type { CommandContext } from "./submit-input.ts";

/** The context of the commands behind each public session. In an extra file, so that declarations of the main entry do not import the driver. */
const contexts = new WeakMap<AgentSession, CommandContext>();

/** Keeps the context of a session that was made. */
export function keepContext(session: AgentSession, context: CommandContext): void {
  contexts.set(session, context);
}

/** @throws AgentError INPUT_INVALID for an object that `createSession` of this copy of core did not make */
export function contextOf(session: AgentSession): CommandContext {
  const context = contexts.get(session);
  if (context) return context;
  throw new AgentError("INPUT_INVALID", {
    message: "This object is not a session of this copy of Loopwright.",
    fix: "Pass what `createSession` returned.",
  });
}
