import { AgentError } from "@loopwright/core";
import { isId } from "@loopwright/core/ports";
import type { Intent } from "../actions-to-authorize.ts";
import { redactedCause } from "../redact-cause-for-log.ts";
import type { RequestInput, Route } from "../request/route.ts";
import type { ServerContext } from "../server-context.ts";
import type { Principal } from "../server-options.ts";
import { intentsOf } from "./intents-of-request.ts";

type AuthorizeContext = Pick<ServerContext, "options" | "clock" | "limits" | "logger">;

/** Passes if the caller may perform all actions of the request. @throws AgentError as `authorize` */
export async function authorizeRequest(
  route: Route,
  { principal, input, request }: { readonly principal: Principal; readonly input: RequestInput; readonly request: Request },
  server: AuthorizeContext,
): Promise<void> {
  if (!server.options.authorize || route.action === undefined) return;
  for (const intent of intentsOf(route.action, input))
    await authorize(principal, { ...intent, absent: () => route.absent?.(input, request) }, server);
}

export interface AskedIntent extends Intent {
  /** The error of the route for a session that does not exist. */
  readonly absent?: () => AgentError | undefined;
}

/**
 * Passes if `authorize` permits the action. A caller that may not read a session does not learn that it exists: its other actions on the session are
 * answered like those on a session that does not exist.
 * @throws AgentError FORBIDDEN, SESSION_NOT_FOUND, NOT_READY when `authorize` takes too long, HOOK_FAILED when it throws
 */
export async function authorize(principal: Principal, { action, session, absent }: AskedIntent, server: AuthorizeContext): Promise<void> {
  if (!server.options.authorize || (await isPermitted(principal, { action, session }, server))) return;
  const mayKnow = session === undefined || action === "session.create" || (await mayRead(principal, { action, session }, server));
  if (!mayKnow) throw absent?.() ?? new AgentError("SESSION_NOT_FOUND", { message: noSession(session) });
  throw new AgentError("FORBIDDEN", {
    message: `The caller may not do \`${action}\`${session === undefined ? " here" : ` in the session \`${session}\``}.`,
    fix: "Ask the operator of the server for the permission.",
    details: { action },
  });
}

/** The message for a session that does not exist, unless the route has its own. */
export const noSession = (id = ""): string => `There is no session ${isId(id) ? `\`${id}\`` : "of this id"}.`;

async function mayRead(principal: Principal, { action, session }: Intent, server: AuthorizeContext): Promise<boolean> {
  return action !== "session.read" && (await isPermitted(principal, { action: "session.read", session }, server));
}

/** The verdict of `authorize`. If it fails, the request is refused, and the error is logged with its cause. */
async function isPermitted(principal: Principal, { action, session }: Intent, server: AuthorizeContext): Promise<boolean> {
  const { options, clock, limits, logger } = server;
  const asked = { action, ...(session === undefined ? {} : { session }), user: principal.user, scope: principal.scope };
  const { promise: late, reject } = Promise.withResolvers<never>();
  const cancel = clock.after(limits.authenticateMs, () => {
    logger.log("error", "`authorize` gave no verdict in time, so the request was refused.", { ...asked, timeoutMs: limits.authenticateMs });
    const message = `The server could not establish within ${limits.authenticateMs} ms whether the caller may do this.`;
    reject(new AgentError("NOT_READY", { message, fix: "Send the request again.", retryAfterMs: 1_000 }));
  });
  const verdict = (async () => options.authorize?.(principal, action, session))().catch((cause: unknown) => {
    logger.log("error", "`authorize` threw an error, so the request was refused.", { ...asked, ...redactedCause(cause) });
    throw new AgentError("HOOK_FAILED", {
      message: "The server could not establish whether the caller may do this.",
      fix: "Ask the operator: the log of the server has the cause.",
      cause,
    });
  });
  try {
    // Only `true` permits: a policy that returns nothing by mistake must not permit.
    return (await Promise.race([verdict, late])) === true;
  } finally {
    cancel();
  }
}
