import type { Open } from "./contender.ts";
import { openerOver } from "./loopwright.ts";

/** Loopwright as it comes: on keep-alive node:http. */
export const open: Open = openerOver(undefined);
