import { nodeHttp } from "@loopwright/provider-kit/node";
import type { Open } from "./contender.ts";
import { openerOver } from "./loopwright.ts";

/** Loopwright on keep-alive node:http. */
export const open: Open = openerOver(nodeHttp());
