import { redactedCause } from "../redact-cause-for-log.ts";
import type { ServerContext } from "../server-context.ts";
import type { KnownFile, Principal } from "../server-options.ts";

/** True if the principal may see the file in a list. Only `true` permits; an error is logged, and the file is not seen. */
export async function maySeeFile(
  principal: Principal,
  file: KnownFile,
  { options, logger }: Pick<ServerContext, "options" | "logger">,
): Promise<boolean> {
  // A policy that decides on sessions but not on files hides the files of other users: they may be part of a hidden session.
  if (!options.maySeeFile) return options.maySee === undefined || file.by === principal.user;
  try {
    return (await options.maySeeFile(principal, file)) === true;
  } catch (cause) {
    const { user, scope } = principal;
    logger.log("error", "`maySeeFile` threw an error, so the file was left out.", {
      file: file.blob,
      user,
      scope,
      ...redactedCause(cause),
    });
    return false;
  }
}
