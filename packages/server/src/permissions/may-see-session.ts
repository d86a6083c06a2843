import type { SessionSummary } from "@loopwright/core/ports";
import { redactedCause } from "../redact-cause-for-log.ts";
import type { ServerContext } from "../server-context.ts";
import type { Principal } from "../server-options.ts";

/** True if the principal may see the session. Only `true` permits; an error is logged, and the session is not seen. */
export async function maySee(
  principal: Principal,
  session: SessionSummary,
  { options, logger }: Pick<ServerContext, "options" | "logger">,
): Promise<boolean> {
  if (!options.maySee) return true;
  try {
    return (await options.maySee(principal, session)) === true;
  } catch (cause) {
    const { user, scope } = principal;
    logger.log("error", "`maySee` threw an error, so the session was left out.", {
      session: session.id,
      user,
      scope,
      ...redactedCause(cause),
    });
    return false;
  }
}
