/*
 * Owns: a ready policy: what roles, participants and sharing permit.
 * Does not own: roles (authentication), the sharing of a session (its log), how a refusal looks (`authorize.ts`).
 * Invariants
 *  A1 a session that the caller may not read and one that does not exist have the same verdicts and the same reads;
 *  A2 every action has a level here: one without does not compile.
 */
import type { SessionSummary } from "@loopwright/core/ports";
import type { Sharing } from "@loopwright/core/protocol";
import type { Action } from "../actions-to-authorize.ts";
import type { Authorize, HttpOptions, MaySee, MaySeeFile, Principal } from "../server-options.ts";

/** Where the policy reads sessions. */
export interface PolicyIndex {
  get(scope: string, id: string): Promise<SessionSummary | undefined>;
}

export interface AccessPolicyOptions {
  readonly store: { readonly index: PolicyIndex };
  /** The sharing of sessions that were never shared. Default `{}`: the user that opened one sees it alone. */
  readonly unshared?: Sharing;
  /** Whether the caller may use a route of the application. Default: all but viewers. */
  readonly extensions?: (principal: Principal, action: `extension.${string}`) => boolean | Promise<boolean>;
}

const levels = ["none", "viewer", "member", "owner", "admin"] as const;
type Level = (typeof levels)[number];

/** The least level that an action needs: in the session, or of the caller in its scope. */
const needed: { readonly [action in Exclude<Action, `extension.${string}`>]: Exclude<Level, "none"> } = {
  "session.create": "member",
  "session.list": "viewer",
  "session.read": "viewer",
  "session.follow": "viewer",
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

/** Parents of parents that are looked up; a chain that is longer is not seen. */
const parentsMax = 16;
const isAtLeast = (level: Level, least: Level): boolean => levels.indexOf(level) >= levels.indexOf(least);
const lower = (one: Level, other: Level): Level => (isAtLeast(one, other) ? other : one);

/** What the roles of a principal permit in its scope. */
function roleLevel({ roles = [] }: Principal): "viewer" | "member" | "admin" {
  if (roles.includes("admin") || roles.includes("service")) return "admin";
  return roles.includes("viewer") ? "viewer" : "member";
}

/** What the sharing of a session gives to a user. Only own fields count, and only words that it can have. */
function sharedLevel({ scope, users = {} }: Sharing, user: string): Level {
  const own = Object.hasOwn(users, user) ? users[user] : undefined;
  const ofUser: Level = own === "owner" || own === "member" || own === "viewer" ? own : "none";
  const ofScope: Level = scope === "member" || scope === "viewer" ? scope : "none";
  return isAtLeast(ofUser, ofScope) ? ofUser : ofScope;
}

/**
 * A policy for `createServer({ ...accessPolicy({ store }) })`. The user that opened a session owns it; others have what `sharing` gives them; children have the
 * sharing of the session above them. Of `roles` of the principal, `admin` and `service` may do everything in their scope, and `viewer` may only read what it
 * sees. What a caller may not see is as if it did not exist.
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
    const least = needed[action];
    if (session === undefined || action === "session.create") return isAtLeast(role, least);
    const summary = await index.get(principal.scope, session);
    // An input may begin a session with a new id, and the route refuses every other use of one that does not exist.
    if (!summary) return role !== "viewer" && action === "session.send";
    return isAtLeast(await levelIn(principal, summary), least);
  };
  // A file does not say of which sessions it is a part, and one that is shared may be part of another that is not.
  const maySeeFile: MaySeeFile = (principal, { by }) => by === principal.user || roleLevel(principal) === "admin";
  return { authorize, maySee, maySeeFile };
}

const isExtension = (action: Action): action is `extension.${string}` => action.startsWith("extension.");
