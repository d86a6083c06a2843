/*
 * Owns: what is kept of the process in the background of a working directory: `.loopwright/serve.json`, for its user alone, and whether it still runs.
 * Does not own: how it is started and stopped.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { AgentError } from "@loopwright/core";
import { oneLine } from "../terminal/neutralise.ts";
import { processIdentity } from "./process-identity.ts";

/** A process in the background. */
export interface DaemonState {
  readonly pid: number;
  /** When it began, by the record of the system: its number alone may be that of another process by now. */
  readonly identity: string;
  /** Absent: it does not listen, or not yet. */
  readonly url?: string;
  /** In milliseconds. */
  readonly startedAt: number;
}

/** The files of the process in the background of a working directory. */
export interface DaemonPlace {
  readonly state: string;
  readonly log: string;
  readonly lock: string;
}

/** Where they are. */
export function daemonPlace(directory: string): DaemonPlace {
  const folder = resolve(directory, ".loopwright");
  return { state: join(folder, "serve.json"), log: join(folder, "serve.log"), lock: join(folder, "serve.lock") };
}

/** What is known of the process in the background; `isRunning` is false for one that has ended without a word. @throws AgentError CONFIG_INVALID for a damaged file */
export function readState({ state: path }: DaemonPlace): { readonly state: DaemonState; readonly isRunning: boolean } | undefined {
  if (!existsSync(path)) return undefined;
  const state = parsed(path);
  return { state, isRunning: processIdentity(state.pid) === state.identity };
}

function parsed(path: string): DaemonState {
  try {
    const state = JSON.parse(readFileSync(path, "utf8")) as DaemonState;
    if (Number.isSafeInteger(state.pid) && state.pid > 1 && typeof state.identity === "string" && Number.isFinite(state.startedAt))
      return state;
  } catch {
    // As one that holds something else.
  }
  throw new AgentError("CONFIG_INVALID", {
    message: `The file \`${oneLine(path, 200)}\` does not describe a process.`,
    fix: "Look whether `loopwright` still runs here, end it, and remove the file.",
  });
}

/** Keeps what is known of this process, in the place of what was there. */
export function writeState(
  place: DaemonPlace,
  { url, startedAt }: Pick<DaemonState, "startedAt"> & { readonly url: string | undefined },
): void {
  const state: DaemonState = {
    pid: process.pid,
    identity: processIdentity(process.pid) ?? "",
    startedAt,
    ...(url === undefined ? {} : { url }),
  };
  const fresh = `${place.state}.new`;
  rmSync(fresh, { force: true });
  writeFileSync(fresh, `${JSON.stringify(state, null, 1)}\n`, { mode: 0o600 });
  renameSync(fresh, place.state);
}

/** Forgets a process that has ended; a file of a later one stays. */
export function removeState(place: DaemonPlace, { pid, identity }: Pick<DaemonState, "pid" | "identity">): void {
  const known = readState(place)?.state;
  if (known?.pid === pid && known.identity === identity) rmSync(place.state, { force: true });
}

/** Makes the folder of these files, for this user alone where it is new. */
export function makeFolder({ state }: DaemonPlace): void {
  mkdirSync(resolve(state, ".."), { recursive: true, mode: 0o700 });
}
