import type { Logger } from "../ports/logger.ts";

type Level = Parameters<Logger["log"]>[0];

const order: readonly Level[] = ["debug", "info", "warn", "error"];

/**
 * One line of JSON per entry on standard error (`console.error`), so that standard output stays the program's own. Default level: `info`.
 * Fields that cannot be written are left out; a field named `level` or `message` does not replace the entry's own. What a terminal would obey is
 * written as an escape of JSON.
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
    return plain(JSON.stringify({ ...entry, ...fields, ...entry }));
  } catch {
    return plain(JSON.stringify(entry));
  }
}

/** What JSON leaves as it is: DEL, the second set of control characters, other line ends, and what turns the direction of a text. */
const obeyed = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const plain = (line: string): string => line.replace(obeyed, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
