import { systemClock } from "@loopwright/core/memory";
import type { Clock, Logger } from "@loopwright/core/ports";
import { redactFields, redactText } from "./redact.ts";

type Level = Parameters<Logger["log"]>[0];

export interface JsonLoggerOptions {
  /** Gets each record as one line, with its line end. Default: standard error. */
  readonly write?: (line: string) => void;
  /** Default `info`. */
  readonly level?: Level;
  /** Texts that must not be in a record, for example the token of this server. */
  readonly secrets?: readonly string[];
  /** Fields of each record, for example the name of the node. */
  readonly fields?: { readonly [name: string]: string | number | boolean };
  readonly clock?: Pick<Clock, "now">;
}

const levels: readonly Level[] = ["debug", "info", "warn", "error"];

/** What JSON leaves as it is and a terminal would obey. */
const obeyed = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** A logger that writes one JSON object a line: `at`, `level`, `message` and the fields, without keys, tokens and content. Never throws. */
export function jsonLogger(options: JsonLoggerOptions = {}): Logger {
  const {
    write = (line) => void process.stderr.write(line),
    level: least = "info",
    secrets = [],
    fields: own = {},
    clock = systemClock,
  } = options;
  const lineOf = (entry: { readonly level: Level; readonly message: string }, fields: Parameters<Logger["log"]>[2]): string => {
    const head = { at: new Date(clock.now()).toISOString(), level: entry.level, message: redactText(entry.message, secrets) };
    try {
      return JSON.stringify({ ...head, ...own, ...redactFields(fields ?? {}, secrets), ...head });
    } catch {
      return JSON.stringify({ ...head, ...own });
    }
  };
  return {
    log(level, message, fields) {
      if (levels.indexOf(level) < levels.indexOf(least)) return;
      try {
        write(`${lineOf({ level, message }, fields).replace(obeyed, escaped)}\n`);
      } catch {
        // A log that cannot be written must not stop what it is about.
      }
    },
  };
}
