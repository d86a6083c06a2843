/**
 * The action of a request, which `authorize` permits or refuses. Every route that is not public has one; `docs/http.md` lists them. Actions on sessions
 * come with the id of the session, except `session.list`, and `session.create` if the caller does not choose the id.
 */
export type Action =
  | "session.create"
  | "session.list"
  | "session.read"
  | "session.follow"
  /** The facts of the session with their prompts. The route serves trusted callers alone, whatever the policy says. */
  | "session.log"
  /** Asked as two actions: `session.read` of the session, and `session.create`. */
  | "session.fork"
  | "session.change"
  | "session.remove"
  | "session.share"
  | "session.send"
  | "session.answer"
  | "session.decide"
  | "session.abort"
  | "session.schedule"
  | "session.hold"
  | "file.upload"
  | "file.read"
  | "file.list"
  | "file.remove"
  | "approval.list"
  | "approval.rules"
  | "notifications.follow"
  | "notifications.publish"
  | "access.read"
  | "access.login"
  | "ticket.create"
  | "agent.list"
  | "server.inspect"
  /** The metrics of the process: numbers of all scopes together. */
  | "server.metrics"
  | `extension.${string}`;

/** An action that a caller is about to perform. */
export interface Intent {
  readonly action: Action;
  /** The id of the session. Absent: the action is not about a session, or the session has no id yet. */
  readonly session?: string | undefined;
}
