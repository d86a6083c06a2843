import type { Access } from "@loopwright/core";
import type { Principal } from "../server-options.ts";

/** The access that the log records for a principal, without the fields that concern its request alone. */
export function accessOf({ user, scope, roles, labels }: Principal): Access {
  return { user, scope, ...(roles ? { roles } : {}), ...(labels ? { labels } : {}) };
}
