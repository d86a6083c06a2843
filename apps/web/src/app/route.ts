import { isId, type MessageId } from "@loopwright/core/protocol";

/** What the address bar names within the page. */
export type Route =
  | { readonly name: "new" }
  | { readonly name: "settings"; readonly sectionId?: string }
  | { readonly name: "session"; readonly sessionId: string; readonly messageId?: MessageId; readonly runId?: string };

const pattern = /^#\/c\/([^/]+)(?:\/(m|r)\/([A-Za-z0-9._-]{1,80}))?\/?$/;
const settingsPattern = /^#\/settings(?:\/([a-z0-9-]{1,40}))?\/?$/;

/** The route of a location hash; anything unknown is a new conversation. */
export function routeOf(hash: string): Route {
  const settings = settingsPattern.exec(hash);
  if (settings) return settings[1] === undefined ? { name: "settings" } : { name: "settings", sectionId: settings[1] };
  const [, sessionId, kind, id] = pattern.exec(hash) ?? [];
  if (sessionId === undefined || !isId(sessionId)) return { name: "new" };
  if (id === undefined) return { name: "session", sessionId };
  return kind === "m" ? { name: "session", sessionId, messageId: id } : { name: "session", sessionId, runId: id };
}

/** The hash of a route: `#/`, `#/settings`, `#/settings/<section>`, `#/c/<id>`, `#/c/<id>/m/<message>` or `#/c/<id>/r/<run>`. */
export function hashOf(route: Route): string {
  if (route.name === "new") return "#/";
  if (route.name === "settings") return route.sectionId === undefined ? "#/settings" : `#/settings/${route.sectionId}`;
  const base = `#/c/${route.sessionId}`;
  if (route.messageId !== undefined) return `${base}/m/${route.messageId}`;
  return route.runId === undefined ? base : `${base}/r/${route.runId}`;
}
