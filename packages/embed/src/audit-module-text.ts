import type { Json } from "@loopwright/core";
import type { AuditContext } from "@loopwright/server";

const moduleField = /^(?:active)?module(?:s|contexts?|prompts?|texts?)$/i;

/** Logs that a caller sent text for a module. Such text is ignored: only that of the server is used. */
export function auditModuleText(body: Json, { principal, logger }: AuditContext): void {
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
