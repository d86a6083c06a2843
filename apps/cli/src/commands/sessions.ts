import { AgentError } from "@loopwright/core";
import type { SessionSummary } from "@loopwright/core/ports";
import { questionLines } from "../chat/question-lines.ts";
import { commandName } from "../command-name.ts";
import { exitCodes } from "../exit-code.ts";
import { proseWidth, type SharedFlags, settingsOf, styleFor } from "../flags.ts";
import { type ServerFlags, serverOf } from "../remote/server-address.ts";
import { screenOf } from "../screen/fold-screen.ts";
import { emptyScreen } from "../screen/screen.ts";
import { createScreenWriter } from "../screen/screen-writer.ts";
import { localShelf } from "../shelf/local-shelf.ts";
import type { ExportFormat, ForkRequest, SessionShelf } from "../shelf/session-shelf.ts";
import { summaryLine } from "../summary-line.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { neutralise, oneLine } from "../terminal/neutralise.ts";

export interface SessionFlags extends SharedFlags, ServerFlags {
  readonly json?: boolean;
  readonly limit?: string;
  readonly childrenOf?: string;
  readonly ofAgent?: string;
  readonly status?: SessionSummary["status"];
}

/** Prints the sessions, the latest change first. */
export async function listSessions(flags: SessionFlags): Promise<number> {
  return withShelf(flags, async (shelf) => {
    const { childrenOf, ofAgent, status } = flags;
    const { sessions: found, more } = await shelf.list(limitOf(flags), {
      ...(childrenOf === undefined ? {} : { parent: childrenOf }),
      ...(ofAgent === undefined ? {} : { agent: ofAgent }),
      ...(status === undefined ? {} : { status }),
    });
    for (const summary of found) print(flags.json ? jsonLine(summary) : summaryLine(summary));
    if (found.length === 0 && flags.childrenOf !== undefined && !flags.json) process.stderr.write("This session has no children.\n");
    else if (found.length === 0 && (ofAgent ?? status) !== undefined && !flags.json) process.stderr.write("No session is like that.\n");
    else if (found.length === 0 && !flags.json) process.stderr.write(`There are no sessions yet. \`${commandName()} chat\` starts one.\n`);
    else if (more) process.stderr.write(`There are more than these ${found.length}: a larger --limit lists them.\n`);
    return exitCodes.ok;
  });
}

/** Prints the sessions that hold all words, the best first. */
export async function searchSessions(words: readonly string[], flags: SessionFlags): Promise<number> {
  return withShelf(flags, async (shelf) => {
    const { hits: found, more } = await shelf.search(words.join(" "), limitOf(flags));
    for (const hit of found) print(flags.json ? jsonLine(hit) : `${summaryLine(hit.session)}\n    ${oneLine(hit.excerpt, 200)}`);
    if (found.length === 0 && !flags.json) process.stderr.write("No session holds all of these words.\n");
    else if (more) process.stderr.write(`There may be more than these ${found.length}: a larger --limit or another word finds them.\n`);
    return exitCodes.ok;
  });
}

/** Prints the transcript. @throws AgentError SESSION_NOT_FOUND */
export async function showSession(typed: string, flags: SessionFlags): Promise<number> {
  return withShelf(flags, async (shelf) => {
    const { id, title, messages, isInterrupted, failure, pending } = await shelf.read(typed);
    if (flags.json) {
      for (const { id: messageId, message } of messages) print(jsonLine({ id: messageId, ...message }));
      return exitCodes.ok;
    }
    const frame = { width: proseWidth(process.stdout), style: styleFor(process.stdout, flags) };
    const view = { frame, liveMax: 1, showThinking: true, hasKeys: false, showTools: false, now: Date.now() };
    const screen = screenOf(
      emptyScreen,
      messages.map(({ message }) => message),
    );
    const questions = pending.flatMap((question) => questionLines(question, frame));
    if (title) print(frame.style.bold(oneLine(title, 200)));
    for (const line of createScreenWriter().write(screen, view).finished) print(line);
    if (questions.length > 0) process.stderr.write(`\n${questions.join("\n")}\nAnswer: ${shelf.resumeCommand(id)}\n`);
    if (failure) process.stderr.write(`\nIts last run failed: ${oneLine(failure.message, 600)} (${failure.code})\n`);
    if (isInterrupted) process.stderr.write(`\nIts last run was cut off. Continue it: ${shelf.resumeCommand(id)}\n`);
    return exitCodes.ok;
  });
}

/** Begins a session with the messages of another one, and prints its id. @throws AgentError SESSION_NOT_FOUND, INPUT_INVALID */
export async function forkSession(typed: string, wanted: ForkRequest, { model, ...flags }: SessionFlags): Promise<number> {
  return withShelf(flags, async (shelf) => {
    const id = await shelf.fork(typed, wanted);
    print(flags.json ? jsonLine({ id }) : id);
    const other = model === undefined ? "" : ` --model ${oneLine(model, 200)}`;
    if (!flags.json) process.stderr.write(`Continue it: ${shelf.resumeCommand(id)}${other}\n`);
    return exitCodes.ok;
  });
}

export interface ExportFlags extends SessionFlags {
  readonly format: ExportFormat | "log";
  /** Secrets and personal data are replaced. */
  readonly redact?: boolean;
  /** The policy whose patterns are replaced as well. */
  readonly guardrails?: string;
}

/** Prints a session as Markdown, as JSON, or its log. @throws AgentError SESSION_NOT_FOUND, INPUT_INVALID, CONFIG_INVALID */
export async function exportSession(typed: string, { format, redact = false, guardrails, ...flags }: ExportFlags): Promise<number> {
  if (format !== "log" && (redact || guardrails !== undefined))
    throw new AgentError("INPUT_INVALID", {
      message: "Only the log of a session is redacted.",
      fix: "Add `--format log`, or leave out `--redact` and `--guardrails`.",
    });
  if (guardrails !== undefined && !redact)
    throw new AgentError("INPUT_INVALID", {
      message: "`--guardrails` has no effect without `--redact`.",
      fix: "Add `--redact`, or leave it out.",
    });
  return withShelf(flags, async (shelf) => {
    const text =
      format === "log"
        ? await (await import("../shelf/log-text.ts")).logText(await shelf.log(typed), { redact, guardrails })
        : await shelf.export(typed, format);
    // A terminal must not be steered by what models and tools have written; a file gets it as it is.
    process.stdout.write(process.stdout.isTTY ? neutralise(text) : text);
    return exitCodes.ok;
  });
}

/** Deletes a session for good. @throws AgentError SESSION_NOT_FOUND, SESSION_BUSY while another process works on it */
export async function removeSession(typed: string, flags: SessionFlags): Promise<number> {
  return withShelf(flags, async (shelf) => {
    const id = await shelf.remove(typed);
    process.stderr.write(`Deleted ${id}.\n`);
    return exitCodes.ok;
  });
}

/** Lends the sessions of the store, or of the server at `--url`. */
export async function withShelf(flags: SessionFlags, work: (shelf: SessionShelf) => Promise<number>): Promise<number> {
  const shelf = await openShelf(flags);
  try {
    return await work(shelf);
  } finally {
    await shelf.close();
  }
}

/** The sessions of the store, or of the server at `--url`; the caller closes it. */
export async function openShelf(flags: SessionFlags): Promise<SessionShelf> {
  if (flags.url !== undefined) return (await import("../shelf/remote-shelf.ts")).remoteShelf(await serverOf(flags));
  return localShelf(await settingsOf({ ...flags, offline: true }));
}

function limitOf({ limit = "50" }: SessionFlags): number {
  const count = Number(limit);
  if (Number.isInteger(count) && count > 0 && count <= 10_000) return count;
  throw new AgentError("INPUT_INVALID", {
    message: `The limit \`${oneLine(limit, 40)}\` is no number from 1 to 10000.`,
    fix: "Pass such a number with `--limit`.",
  });
}

/** A line on standard output. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
