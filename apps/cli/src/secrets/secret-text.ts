import { readFile } from "node:fs/promises";
import { AgentError } from "@loopwright/core";
import { oneLine } from "../terminal/neutralise.ts";

/** The text of a file without the line break at its end. @throws AgentError CONFIG_INVALID */
export async function textOfFile(path: string): Promise<string> {
  try {
    return withoutEnd(await readFile(path, "utf8"));
  } catch (cause) {
    throw new AgentError("CONFIG_INVALID", {
      message: `The file \`${oneLine(path, 200)}\` cannot be read.`,
      fix: "Name a file that holds the value alone and that this user may read.",
      cause,
    });
  }
}

/** The text without the line break at its end. */
export const withoutEnd = (text: string): string => text.replace(/\r?\n$/, "");

/** The error of a value that cannot be used. */
export const unusableText = (message: string): AgentError =>
  new AgentError("CONFIG_INVALID", {
    message,
    fix: "Pipe the value in, name a file that holds it with `--file`, or type it in a terminal.",
  });
