/*
 * Owns: the start of `run` in the background: a session of its own, output in a file, what it needs to know over a pipe, and that it is ready when the start returns.
 * Does not own: what it serves (commands/run), what is kept of it (daemon-state).
 */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, closeSync, openSync, renameSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { AgentError } from "@loopwright/core";
import type { Environment } from "../config/environment.ts";
import { passphraseVariable } from "../secrets/passphrase.ts";
import { oneLine } from "../terminal/neutralise.ts";
import { type DaemonPlace, type DaemonState, makeFolder, readState, removeState } from "./daemon-state.ts";
import { tailLines } from "./log-tail.ts";

/** What is sent to the process in the background, over the pipe. It stands in no argument and in no variable. */
export interface DaemonOrder {
  readonly flags: object;
  readonly passphrase?: string;
}

/** What it answers once it is ready. */
export interface DaemonReady {
  readonly url?: string;
}

/** A start that failed: the exit code of the process, and what it printed last. */
export interface FailedStart {
  readonly code: number;
  readonly lines: readonly string[];
}

/** A log of this size is set aside, as `serve.log.1`, by the next start. */
const logBytesMax = 16 * 1024 * 1024;

/** Starts it, unless one runs here already, and waits until it is ready. @throws AgentError CONFIG_INVALID where one runs or is being started, or the system has no room for it */
export async function startDaemon(place: DaemonPlace, order: () => Promise<DaemonOrder>): Promise<DaemonState | FailedStart> {
  try {
    return await startUnlessOneRuns(place, order);
  } catch (error) {
    throw exhausted(error) ?? error;
  }
}

async function startUnlessOneRuns(place: DaemonPlace, order: () => Promise<DaemonOrder>): Promise<DaemonState | FailedStart> {
  makeFolder(place);
  const unlock = lockOf(place);
  try {
    const known = readState(place);
    if (known?.isRunning) throw alreadyRunning(known.state);
    if (known) removeState(place, known.state);
    return await begin(place, await order());
  } finally {
    unlock();
  }
}

/** The result code of SQLite for a lock that another connection holds. */
const sqliteBusy = 5;

/** What the system answers when it has nothing left of a kind, and what can be done. */
const shortages: { readonly [code: string]: readonly [what: string, fix: string] } = {
  EMFILE: ["this process has too many files open", "Raise its limit with `ulimit -n`, and start it again."],
  ENFILE: ["the system has too many files open", "End processes that hold many, or raise `fs.file-max`."],
  EAGAIN: ["the system allows no further process", "End processes of this user, or raise the limit with `ulimit -u`."],
  ENOMEM: ["the system has no memory left for it", "End other processes, and start it again."],
};

/** An error of the system that has run out of something; `undefined` for any other. */
function exhausted(cause: unknown): AgentError | undefined {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const [what, fix] = (Object.hasOwn(shortages, code) && shortages[code]) || [];
  if (what === undefined || fix === undefined) return undefined;
  const message = `The server in the background cannot be started, because ${what} (${code}).`;
  return new AgentError("CONFIG_INVALID", { message, fix, cause });
}

/** The lock of the operating system ends with its process, so it is never stale. */
function lockOf({ lock }: DaemonPlace): () => void {
  closeSync(openSync(lock, "a", 0o600));
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(lock, { timeout: 0 });
    database.exec("BEGIN IMMEDIATE");
  } catch (cause) {
    database?.close();
    throw noLock(lock, cause as Error & { readonly errcode?: number });
  }
  return () => database.close();
}

function noLock(lock: string, cause: Error & { readonly errcode?: number }): AgentError {
  if (cause.errcode !== sqliteBusy)
    return new AgentError("CONFIG_INVALID", {
      message: `The file \`${oneLine(lock, 200)}\` cannot be locked: ${oneLine(cause.message, 200)}.`,
      fix: "Look whether it can be written, and whether this process may open more files (`ulimit -n`).",
      cause,
    });
  return new AgentError("CONFIG_INVALID", {
    message: "Another command is starting a server in the background of this working directory.",
    fix: "Wait a moment, then look at `loopwright serve status`.",
    cause,
  });
}

const alreadyRunning = ({ pid, url }: DaemonState): AgentError =>
  new AgentError("CONFIG_INVALID", {
    message: `A server runs in the background of this working directory already: process ${pid}${url === undefined ? "" : ` at ${url}`}.`,
    fix: "End it with `loopwright serve stop`, or start this one in another folder.",
  });

async function begin(place: DaemonPlace, order: DaemonOrder): Promise<DaemonState | FailedStart> {
  const log = openLog(place);
  const { [passphraseVariable]: _, ...environment }: Environment = process.env;
  let child: ChildProcess;
  try {
    child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? "", "serve", "child"], {
      detached: true,
      env: environment,
      stdio: ["ignore", log, log, "ipc"],
    });
  } finally {
    closeSync(log);
  }
  const outcome = await readiness(child, order);
  if (typeof outcome === "number") return { code: outcome, lines: await tailLines(place.log, 3) };
  child.disconnect();
  child.unref();
  const known = readState(place);
  if (known?.isRunning) return known.state;
  return { code: 1, lines: await tailLines(place.log, 3) };
}

function openLog({ log }: DaemonPlace): number {
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > logBytesMax) renameSync(log, `${log}.1`);
  const descriptor = openSync(log, "a", 0o600);
  chmodSync(log, 0o600);
  return descriptor;
}

/** What it answers, or its exit code where it ends first. */
function readiness(child: ChildProcess, order: DaemonOrder): Promise<DaemonReady | number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(code || 1));
    child.once("message", (ready: DaemonReady) => resolve(ready));
    // Without a process there is no pipe either; the error event has the reason. A pipe that is broken belongs to a process that has ended.
    if (child.pid !== undefined) child.send(order, () => {});
  });
}
