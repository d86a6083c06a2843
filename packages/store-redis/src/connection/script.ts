import { createHash } from "node:crypto";
import type { AskOptions, Connection, Outcome, Word } from "./connection.ts";

/** A program that Redis runs in one step. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

/** What a script is run on. */
export interface ScriptInput {
  readonly keys: readonly string[];
  readonly args: readonly Word[];
}

export function script(text: string): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}

/** Runs a script; sends its text where Redis does not know it (any more). Never rejects. */
export async function run(connection: Connection, program: Script, input: ScriptInput & AskOptions): Promise<Outcome> {
  const rest = [String(input.keys.length), ...input.keys, ...input.args];
  const outcome = await connection.ask(["EVALSHA", program.sha, ...rest], input);
  return outcome.type === "refused" && outcome.refusal.word === "NOSCRIPT"
    ? connection.ask(["EVAL", program.text, ...rest], input)
    : outcome;
}

/** The answer of a script. @throws AgentError when there is none. */
export async function answerOf(connection: Connection, program: Script, input: ScriptInput & AskOptions): Promise<unknown> {
  return connection.answerOf(await run(connection, program, input));
}
