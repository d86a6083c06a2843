import type { Logger } from "../ports/logger.ts";

type Level = Parameters<Logger["log"]>[0];

const order: readonly Level[] = ["debug", "info", "warn", "error"];

/**
 * One line of JSON per entry on standard error (`console.error`), so that standard output stays the program's own. Default level: `info`.
 * Fields that cannot be written are left out; a field named `level` or `message` does not replace the entry's own.
 */
export function consoleLogger(options?: { readonly level?: Level }): Logger {
  const least = order.indexOf(options?.level ?? "info");
  return {
    log(level, message, fields) {
      if (order.indexOf(level) >= least) console.error(lineOf({ level, message }, fields));
    },
  };
}

function lineOf(entry: { readonly level: Level; readonly message: string }, fields: object | undefined): string {
  try {
    return JSON.stringify({ ...entry, ...fields, ...entry });
  } catch {
    return JSON.stringify(entry);
  }
}
