import type { Logger } from "../ports/logger.ts";

type Level = Parameters<Logger["log"]>[0];

const order: readonly Level[] = ["debug", "info", "warn", "error"];

/** One line of JSON per entry on standard error (`console.error`), so that standard output stays the program's own. Default level: `info`. */
export function consoleLogger(options?: { readonly level?: Level }): Logger {
  const least = order.indexOf(options?.level ?? "info");
  return {
    log(level, message, fields) {
      if (order.indexOf(level) >= least) console.error(JSON.stringify({ level, message, ...fields }));
    },
  };
}
