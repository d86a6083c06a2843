/**
 * What a request does, as `authorize` is asked about it. Every route has one, `docs/http.md` lists them. Actions of sessions come with the id of the
 * session, except `session.create` without an id of the caller's choice, and `session.list`.
 */
export type Action =
  | "session.create"
  | "session.list"
  | "session.read"
  | "session.follow"
  | "session.change"
  | "session.remove"
  | "session.send"
  | "session.answer"
  | "session.decide"
  | "session.abort"
  | "file.upload"
  | "file.read"
  | "notifications.follow"
  | "agent.list"
  | "server.inspect"
  | `extension.${string}`;

/** What a caller is about to do. */
export interface Intent {
  readonly action: Action;
  /** The id of the session. Absent: the action is about none, or the session has no id yet. */
  readonly session?: string | undefined;
}
