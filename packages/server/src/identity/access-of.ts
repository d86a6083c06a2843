import type { Access } from "@loopwright/core";
import type { Principal } from "../server-options.ts";

/** What the log says of who acts: whether they are trusted is of this server alone. */
export function accessOf({ trusted: _, ...access }: Principal): Access {
  return access;
}
