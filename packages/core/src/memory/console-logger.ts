import type { Logger } from "../ports/logger.ts";

type Level = Parameters<Logger["log"]>[0];

const order: readonly Level[] = ["debug", "info", "warn", "error"];

/**
 * Writes one line of JSON per entry to standard error (`console.error`); standard output is left to the program. Default level: `info`. If a field has no
 * JSON form, all fields are left out; a field named `level` or `message` does not replace the entry's own. Control characters are written as JSON escapes.
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

/** What JSON does not escape but terminals obey: DEL, the second set of control characters, other line ends, marks of text direction. */
const obeyed = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const plain = (line: string): string => line.replace(obeyed, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
