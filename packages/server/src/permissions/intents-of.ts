import type { CheckedInput } from "@loopwright/core/protocol";
import type { Action, Intent } from "../action.ts";
import type { RequestInput } from "../request/route.ts";

/** Where requests name sessions, and what depends on their input. */
interface Named {
  readonly params?: { readonly id?: string };
  readonly query?: { readonly session?: readonly string[] };
  readonly body?: { readonly id?: string; readonly sessionId?: string; readonly input?: CheckedInput };
}

/** What a request with this action is about to do. */
export function intentsOf(action: Action, input: RequestInput): readonly Intent[] {
  const { params = {}, query = {}, body = {} } = input as Named;
  if (action === "notifications.follow") return [{ action }, ...(query.session ?? []).map(followed)];
  if (action === "session.create") return [{ action, session: body.id }];
  if (action !== "session.send") return [{ action, session: action.startsWith("session.") ? params.id : undefined }];
  const session = params.id ?? body.sessionId;
  // A session that the caller does not name is a new one, or the one that the same key began.
  if (session === undefined) return [{ action: "session.create" }];
  return [{ action: body.input?.results ? "session.answer" : "session.send", session }];
}

/** `<id>` or `<id>@<cursor>`. */
const followed = (name: string): Intent => ({ action: "session.follow", session: name.split("@", 1)[0] });
