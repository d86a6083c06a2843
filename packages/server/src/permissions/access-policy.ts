/*
 * Owns: a ready policy: what roles, participants and sharing permit.
 * Does not own: roles (authentication), the sharing of a session (its log), how a refusal looks (`authorize.ts`).
 * Invariants
 *  A1 a request to read a session has the same verdict, after the same reads of the store, whether the session does not exist or the caller may not read it;
 *  A2 every action has a level here: an action without a level does not compile.
 */
import type { SessionSummary } from "@loopwright/core/ports";
import type { Sharing } from "@loopwright/core/protocol";
import type { Action } from "../actions-to-authorize.ts";
import type { Authorize, HttpOptions, MaySee, MaySeeFile, Principal } from "../server-options.ts";

/** The source of sessions for the policy. */
export interface PolicyIndex {
  get(scope: string, id: string): Promise<SessionSummary | undefined>;
}

export interface AccessPolicyOptions {
  readonly store: { readonly index: PolicyIndex };
  /** The sharing of a session that has none. Default `{}`: only the user that opened the session and admins see it. */
  readonly unshared?: Sharing;
  /** True if the caller may use a route of the application. Default: all but viewers may. */
  readonly extensions?: (principal: Principal, action: `extension.${string}`) => boolean | Promise<boolean>;
}

const levels = ["none", "viewer", "member", "owner", "admin"] as const;
type Level = (typeof levels)[number];

/** The lowest level that an action needs: in the session, or in the scope for an action without a session. */
const needed: { readonly [action in Exclude<Action, `extension.${string}` | "server.metrics">]: Exclude<Level, "none"> } = {
  "session.create": "member",
  "session.list": "viewer",
  "session.read": "viewer",
  "session.follow": "viewer",
  "session.log": "owner",
  "session.fork": "viewer",
  "session.change": "member",
  "session.remove": "owner",
  "session.share": "owner",
  "session.send": "member",
  "session.answer": "member",
  "session.decide": "member",
  "session.abort": "member",
  "session.schedule": "member",
  "session.hold": "admin",
  "file.upload": "member",
  "file.read": "viewer",
  "file.list": "viewer",
  "file.remove": "member",
  "approval.list": "viewer",
  "approval.rules": "member",
  "notifications.follow": "viewer",
  "notifications.publish": "member",
  "access.read": "viewer",
  "access.login": "viewer",
  "ticket.create": "viewer",
  "agent.list": "viewer",
  "server.inspect": "admin",
};

/** The number of ancestors that are looked up. A session with more ancestors is seen by admins only. */
const parentsMax = 16;
const isAtLeast = (level: Level, least: Level): boolean => levels.indexOf(level) >= levels.indexOf(least);
const lower = (one: Level, other: Level): Level => (isAtLeast(one, other) ? other : one);

/** What the roles of a principal permit in its scope. */
function roleLevel({ roles = [] }: Principal): "viewer" | "member" | "admin" {
  if (roles.includes("admin") || roles.includes("service")) return "admin";
  return roles.includes("viewer") ? "viewer" : "member";
}

/** What the sharing of a session gives to a user. Inherited properties and unknown levels are ignored. */
function sharedLevel({ scope, users = {} }: Sharing, user: string): Level {
  const own = Object.hasOwn(users, user) ? users[user] : undefined;
  const ofUser: Level = own === "owner" || own === "member" || own === "viewer" ? own : "none";
  const ofScope: Level = scope === "member" || scope === "viewer" ? scope : "none";
  return isAtLeast(ofUser, ofScope) ? ofUser : ofScope;
}

/**
 * A policy for `createServer({ ...accessPolicy({ store }) })`. The user that opened a session owns it; others have what `sharing` gives them; a child has the
 * owner and the sharing of its topmost ancestor. A principal with the role `admin` or `service` may do everything in its scope; one with `viewer` may only
 * read what it sees. The metrics of the process, which are those of all scopes, are for trusted callers. A session that a caller may not see is answered as if it did not exist.
 */
export function accessPolicy({
  store,
  unshared = {},
  extensions,
}: AccessPolicyOptions): Required<Pick<HttpOptions, "authorize" | "maySee" | "maySeeFile">> {
  const { index } = store;

  async function rootOf(scope: string, summary: SessionSummary): Promise<SessionSummary | undefined> {
    let at: SessionSummary | undefined = summary;
    for (let above = 0; at?.parent !== undefined; above++) at = above < parentsMax ? await index.get(scope, at.parent) : undefined;
    return at;
  }

  /** The level of a principal in a session. */
  async function levelIn(principal: Principal, summary: SessionSummary): Promise<Level> {
    const role = roleLevel(principal);
    if (role === "admin") return "admin";
    const root = await rootOf(principal.scope, summary);
    if (!root) return "none";
    const level = root.participants?.[0] === principal.user ? "owner" : sharedLevel(root.sharing ?? unshared, principal.user);
    return role === "viewer" ? lower(level, "viewer") : level;
  }

  const maySee: MaySee = async (principal, summary) => isAtLeast(await levelIn(principal, summary), "viewer");

  const authorize: Authorize = async (principal, action, session) => {
    const role = roleLevel(principal);
    if (isExtension(action)) return extensions ? extensions(principal, action) : isAtLeast(role, "member");
    // An admin of one scope is no operator of the others.
    if (action === "server.metrics") return principal.trusted === true;
    const least = needed[action];
    if (session === undefined || action === "session.create") return isAtLeast(role, least);
    const summary = await index.get(principal.scope, session);
    // An input with a new session id begins that session. The route refuses every other use of a session that does not exist.
    if (!summary) return role !== "viewer" && action === "session.send";
    return isAtLeast(await levelIn(principal, summary), least);
  };
  // A file does not record its sessions, and a file of a shared session may also be in a private one. So only its uploader and admins see it.
  const maySeeFile: MaySeeFile = (principal, { by }) => by === principal.user || roleLevel(principal) === "admin";
  return { authorize, maySee, maySeeFile };
}

const isExtension = (action: Action): action is `extension.${string}` => action.startsWith("extension.");
