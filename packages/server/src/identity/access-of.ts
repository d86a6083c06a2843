import type { Access } from "@loopwright/core";
import type { Principal } from "../server-options.ts";

/** The access that the log records for a principal, without `trusted`, which only this server uses. */
export function accessOf({ trusted: _, ...access }: Principal): Access {
  return access;
}
