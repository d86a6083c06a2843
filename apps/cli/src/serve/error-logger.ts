import type { Logger } from "@loopwright/core/ports";
import { createRunLogger } from "./run-logger.ts";

/** Warnings and errors as lines on standard error. */
export const errorLogger: Logger = createRunLogger({ isJson: false, stdout: { write: () => true }, stderr: process.stderr });
