import { AgentError } from "../errors.ts";
import type { State } from "../loop/state.ts";
import { shownId } from "../message/shown-id.ts";

/** `above`: the session that was to be erased, if the held session is one of its descendants. */
export const sessionHeld = (session: string, { reason, by }: NonNullable<State["hold"]>, above: string = session): AgentError =>
  new AgentError("SESSION_HELD", {
    message: `The session \`${session}\`${above === session ? "" : `, a child of \`${above}\`,`} is under a legal hold${by === undefined ? "" : ` by \`${shownId(by)}\``}, so ${above === session ? "it is not erased" : "neither is erased"}.`,
    details: { session, ...(reason === undefined ? {} : { reason }), ...(by === undefined ? {} : { by }) },
  });
