import type { Logger } from "../ports/logger.ts";

/** Drops everything. */
export const silentLogger: Logger = { log() {} };
