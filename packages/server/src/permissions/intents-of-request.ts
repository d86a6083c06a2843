import type { CheckedInput } from "@loopwright/core/protocol";
import type { Action, Intent } from "../actions-to-authorize.ts";
import type { RequestInput } from "../request/route.ts";

/** The fields of an input that name sessions, and those that the action depends on. */
interface Named {
  readonly params?: { readonly id?: string };
  readonly query?: { readonly session?: readonly string[] };
  readonly body?: {
    readonly id?: string;
    readonly sessionId?: string;
    readonly input?: CheckedInput;
    readonly retention?: unknown;
    readonly stopsWithStream?: boolean;
  };
}

/** The actions that a request is about to do, each with its session. */
export function intentsOf(action: Action, input: RequestInput): readonly Intent[] {
  const { params = {}, query = {}, body = {} } = input as Named;
  if (action === "notifications.follow") return [{ action }, ...(query.session ?? []).map(followed)];
  if (action === "session.fork")
    return [
      { action: "session.read", session: params.id },
      { action: "session.create", session: body.id },
    ];
  // A retention erases the session.
  if (action === "session.change" && body.retention !== undefined)
    return [
      { action, session: params.id },
      { action: "session.remove", session: params.id },
    ];
  if (action === "session.create") return [{ action, session: body.id }];
  if (action !== "session.send") return [{ action, session: action.startsWith("session.") ? params.id : undefined }];
  const session = params.id ?? body.sessionId;
  // Without a session id the request creates a session, or repeats under the same key the request that created it.
  if (session === undefined) return [{ action: "session.create" }];
  const sent: Intent = { action: body.input?.results ? "session.answer" : "session.send", session };
  // The run may be one that another caller began: a steered or merged input joins it.
  return body.stopsWithStream ? [sent, { action: "session.abort", session }] : [sent];
}

/** `<id>` or `<id>@<cursor>`. */
const followed = (name: string): Intent => ({ action: "session.follow", session: name.split("@", 1)[0] });
