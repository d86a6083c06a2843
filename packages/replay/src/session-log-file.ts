import { AgentError, type Fact, factVersion } from "@loopwright/core";
import { isId } from "@loopwright/core/ports";

/** A recorded session: its id, on which requests to models depend, and its whole log. */
export interface SessionLogFile {
  readonly session: string;
  readonly facts: readonly Fact[];
  /** Texts were replaced in it, by `redactSessionLog`. */
  readonly isRedacted?: true;
}

const format = "loopwright-log";
const version = 1;

/** The session as lines of JSON: a line that names the format and the session, then a fact a line. */
export function sessionLogText({ session, facts, isRedacted }: SessionLogFile): string {
  return [{ format, version, session, ...(isRedacted ? { redacted: true } : {}) }, ...facts]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");
}

/** What `sessionLogText` has written. @throws AgentError CONFIG_INVALID for another text, with the number of the first line that is wrong */
export function readSessionLog(text: string): SessionLogFile {
  const [head, ...lines] = text.split("\n").filter((line) => line.trim() !== "");
  const first = head === undefined ? undefined : parsed(head, 1);
  if (!isObject(first) || first["format"] !== format) throw wrong("The file is no recorded session: its first line does not say so.");
  if (first["version"] !== version) throw wrong(`The file has the version ${String(first["version"])}; this build reads ${version}.`);
  const { session } = first;
  if (typeof session !== "string" || !isId(session)) throw wrong("Line 1 of the file names no session.");
  const facts = lines.map((line, at) => factOf(parsed(line, at + 2), at + 1, `Line ${at + 2} of the file`));
  return { session, facts, ...(first["redacted"] === true ? { isRedacted: true } : {}) };
}

/** The facts of a whole log from outside, for example of a server. @throws AgentError CONFIG_INVALID with the number of the first that is none */
export function readFacts(values: readonly unknown[]): readonly Fact[] {
  return values.map((value, at) => factOf(value, at + 1, `Entry ${at + 1} of the log`));
}

function factOf(value: unknown, seq: number, place: string): Fact {
  if (!isObject(value) || typeof value["type"] !== "string" || typeof value["at"] !== "number" || value["seq"] !== seq)
    throw wrong(`${place} is not fact ${seq}.`);
  if (typeof value["v"] !== "number" || value["v"] > factVersion) throw wrong(`${place} was written by a newer build.`);
  return value as unknown as Fact;
}

function parsed(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw wrong(`Line ${number} of the file is no JSON.`);
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null;

const wrong = (message: string): AgentError =>
  new AgentError("CONFIG_INVALID", { message, fix: "Give a file that `sessions export --format log` or `sessionLogText` has written." });
