import { AgentError, type AgentSession, createAgent, createSession } from "@loopwright/core";
import type { SessionStore, SessionSummary } from "@loopwright/core/ports";
import { offline } from "@loopwright/providers-scripted";
import { findSession, localScope, openExistingStore } from "../compose/kept-sessions.ts";
import { exitCodes } from "../exit-code.ts";
import { screenOf } from "../screen/fold-screen.ts";
import { emptyScreen } from "../screen/screen.ts";
import { createScreenWriter } from "../screen/screen-writer.ts";
import { padTo } from "../terminal/lines.ts";
import { oneLine } from "../terminal/neutralise.ts";
import { proseWidth, type SharedFlags, settingsOf, styleFor } from "./flags.ts";

interface SessionFlags extends SharedFlags {
  readonly json?: boolean;
  readonly limit?: string;
}

/** Prints the sessions, the latest change first. */
export async function listSessions(flags: SessionFlags): Promise<number> {
  return withStore(flags, async (store) => {
    const limit = limitOf(flags);
    const found = store ? await store.index.list(localScope, { limit }) : [];
    for (const summary of found) print(flags.json ? JSON.stringify(summary) : summaryLine(summary));
    if (found.length === 0 && !flags.json) process.stderr.write("There are no sessions yet. `loopwright chat` starts one.\n");
    return exitCodes.ok;
  });
}

/** Prints the sessions that hold all words, the best first. */
export async function searchSessions(words: readonly string[], flags: SessionFlags): Promise<number> {
  return withStore(flags, async (store) => {
    const found = store ? await store.index.search(localScope, words.join(" "), { limit: limitOf(flags) }) : [];
    for (const hit of found) print(flags.json ? JSON.stringify(hit) : `${summaryLine(hit.session)}\n    ${oneLine(hit.excerpt, 200)}`);
    if (found.length === 0 && !flags.json) process.stderr.write("No session holds all of these words.\n");
    return exitCodes.ok;
  });
}

/** Prints the transcript. @throws AgentError SESSION_NOT_FOUND */
export async function showSession(id: string, flags: SessionFlags): Promise<number> {
  return withStore(flags, async (store) => {
    const session = await readSession(store, id);
    if (flags.json) {
      for (const [place, message] of session.messages.entries()) print(JSON.stringify({ id: session.messageIds[place], ...message }));
      return exitCodes.ok;
    }
    const frame = { width: proseWidth(process.stdout), style: styleFor(process.stdout, flags) };
    const view = { frame, liveMax: 1, showThinking: true, hasKeys: false, showTools: false, now: Date.now() };
    const lines = createScreenWriter().write(screenOf(emptyScreen, session.messages), view).finished;
    if (session.title) print(frame.style.bold(oneLine(session.title, 200)));
    for (const line of lines) print(line);
    if (session.isInterrupted) process.stderr.write(`\nIts last run was cut off. Go on with it: loopwright chat --resume ${id}\n`);
    return exitCodes.ok;
  });
}

/** Deletes a session for good. @throws AgentError SESSION_NOT_FOUND, SESSION_BUSY while another process works on it */
export async function removeSession(id: string, flags: SessionFlags): Promise<number> {
  return withStore(flags, async (store) => {
    if (!store) throw noStore(id);
    await findSession(store, id);
    const ref = { scope: localScope, session: id };
    const { lease } = await store.log.head(ref);
    if (lease) {
      throw new AgentError("SESSION_BUSY", {
        message: `The session \`${id}\` is in use by \`${lease.node}\`.`,
        fix: `End it there, or wait ${Math.ceil(lease.remainingMs / 1000)} s if it is gone.`,
      });
    }
    await store.log.remove(ref);
    process.stderr.write(`Deleted ${id}.\n`);
    return exitCodes.ok;
  });
}

async function readSession(store: SessionStore | undefined, id: string): Promise<AgentSession> {
  if (!store) throw noStore(id);
  await findSession(store, id);
  // Reading needs no model; the offline one stands in for whichever will be asked next.
  return createSession({ agent: createAgent({ name: "reader", provider: offline() }), store, id }).ready();
}

async function withStore(flags: SessionFlags, work: (store: SessionStore | undefined) => Promise<number>): Promise<number> {
  const store = openExistingStore((await settingsOf({ ...flags, offline: true })).storeFile);
  try {
    return await work(store);
  } finally {
    await store?.close();
  }
}

function noStore(id: string): AgentError {
  return new AgentError("SESSION_NOT_FOUND", { message: `There is no session \`${oneLine(id, 64)}\`: nothing is kept here yet.` });
}

function limitOf({ limit = "50" }: SessionFlags): number {
  const count = Number(limit);
  if (Number.isInteger(count) && count > 0 && count <= 10_000) return count;
  throw new AgentError("INPUT_INVALID", {
    message: `The limit \`${oneLine(limit, 40)}\` is no number from 1 to 10000.`,
    fix: "Pass such a number with `--limit`.",
  });
}

/** One session on one line: id, last change, how it stands, messages, title. */
export function summaryLine(summary: SessionSummary): string {
  const changed = new Date(summary.updatedAt).toISOString().slice(0, 16).replace("T", " ");
  const count = `${summary.messageCount} message${summary.messageCount === 1 ? "" : "s"}`;
  const state =
    summary.status === "idle" && summary.lastRun && summary.lastRun.status !== "completed" ? summary.lastRun.status : summary.status;
  return `${summary.id}  ${changed}  ${padTo(state, 8)}  ${padTo(count, 12)}  ${oneLine(summary.title ?? "", 60)}`.trimEnd();
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
