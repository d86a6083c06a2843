import type { Json } from "@loopwright/core";
import type { Logger } from "@loopwright/core/ports";
import { jsonLine } from "../terminal/json-line.ts";
import { oneLine } from "../terminal/neutralise.ts";

type Fields = { readonly [name: string]: Json | undefined };

/** The log of the process for its operator: text lines, or one JSON object per line. */
export interface RunLogger extends Logger {
  /** Logs an event of the process itself. `text`: the lines in text mode. */
  notify(event: string, text: readonly string[], fields?: Fields): void;
}

/** In text mode messages go to standard output, warnings and errors of the server to standard error. As JSON, everything goes to standard output. */
export function createRunLogger({ isJson, stdout, stderr }: RunLoggerOptions): RunLogger {
  const json = (level: string, message: string, fields: Fields = {}): void =>
    void stdout.write(`${jsonLine({ at: new Date().toISOString(), level, message, ...fields })}\n`);
  return {
    log(level, message, fields) {
      if (isJson) json(level, message, fields);
      else if (level === "warn" || level === "error") stderr.write(`${level}: ${oneLine(`${message}${detailsOf(fields)}`, 600)}\n`);
    },
    notify(event, text, fields) {
      if (isJson) json("info", event, fields);
      else stdout.write(text.map((line) => `${line}\n`).join(""));
    },
  };
}

interface RunLoggerOptions {
  readonly isJson: boolean;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

function detailsOf(fields: Fields = {}): string {
  const shown = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return shown.length === 0
    ? ""
    : ` (${shown.map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`).join(", ")})`;
}
