import type { Json } from "@loopwright/core";
import type { Principal } from "../server-options.ts";
import type { ServerScene } from "../server-scene.ts";

const moduleField = /^(?:active)?module(?:s|contexts?|prompts?|texts?)$/i;

/** Logs that a caller sent text for a module: only the server's own counts. */
export function auditModuleText(body: Json, principal: Principal, { logger }: Pick<ServerScene, "logger">): void {
  const fields = fieldsOf(body).flatMap(([name, value]) => [name, ...fieldsOf(value).map(([inner]) => inner)]);
  const found = fields.filter((name) => moduleField.test(name));
  if (found.length === 0) return;
  logger.log("warn", "audit: module text in a request was ignored", {
    user: principal.user,
    scope: principal.scope,
    fields: [...new Set(found)].slice(0, 8),
  });
}

function fieldsOf(value: Json): readonly [string, Json][] {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}
