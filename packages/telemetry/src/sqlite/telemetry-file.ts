/*
 * Owns: one SQLite file with the streams of records, the sums of usage and the sums of a ledger; when what is buffered is written.
 * Does not own: what is recorded (the observers), the limits of accounts (core).
 */
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { AgentError, isAgentError } from "@loopwright/core";
import { systemClock } from "@loopwright/core/memory";
import type { Clock, Logger } from "@loopwright/core/ports";
import { type EventBounds, type EventStore, eventBounds } from "../events/event-store.ts";
import type { UsageStore } from "../usage/usage-entry.ts";
import { type EventRow, eventRows } from "./event-rows.ts";
import { schema } from "./schema.ts";
import { type SqliteLedger, type SqliteLedgerOptions, sqliteLedger } from "./sqlite-ledger.ts";
import { usageRows } from "./usage-rows.ts";

export interface TelemetryFileOptions extends EventBounds {
  /** The file; made with its folder, for this user's eyes only. `:memory:` keeps everything in this process. */
  readonly path: string;
  readonly clock?: Clock;
  /** Gets what could not be written. Default: none. */
  readonly logger?: Logger;
  /** How long records wait for others to be written with them. Default 200 ms. */
  readonly flushMs?: number;
}

/** The records of the processes of one machine, in one file. */
export interface TelemetryFile {
  readonly events: EventStore;
  readonly usage: UsageStore;
  /** A ledger whose sums are in the file: limits hold over all processes that share it, and over restarts. */
  ledger(options: SqliteLedgerOptions): SqliteLedger;
  /** Writes what is buffered. */
  close(): void;
}

/** Records that wait at most; beyond that they are written at once. */
const bufferedMax = 256;
/** Writes between two looks for what is too old or too much. */
const pruneEvery = 1_000;
const busyTimeoutMs = 2_000;

/** @throws AgentError STORE_UNAVAILABLE when the file cannot be opened, STORE_TOO_NEW */
export function telemetryFile(options: TelemetryFileOptions): TelemetryFile {
  const { clock = systemClock, logger, flushMs = 200, keepMs = eventBounds.keepMs, eventsMax = eventBounds.eventsMax } = options;
  const database = opened(options.path);
  const events = eventRows(database, { keepMs, eventsMax, now: () => clock.now() });
  let written = pruneEvery;
  const prune = (): void => {
    if (written < pruneEvery) return;
    written = 0;
    events.prune();
    usage.forget(clock.now() - keepMs);
  };
  const usage = usageRows(database);
  let waiting: (() => void)[] = [];
  let cancel: (() => void) | undefined;
  let isClosed = false;

  const flush = (): void => {
    cancel?.();
    cancel = undefined;
    const writes = waiting;
    waiting = [];
    if (writes.length === 0 || isClosed) return;
    try {
      database.exec("BEGIN IMMEDIATE");
      for (const write of writes) write();
      written += writes.length;
      prune();
      database.exec("COMMIT");
    } catch (error) {
      if (database.isTransaction) database.exec("ROLLBACK");
      logger?.log("warn", "Telemetry could not be written, and is lost.", { records: writes.length, cause: textOf(error) });
    }
  };
  const later = (write: () => void): void => {
    waiting.push(write);
    if (waiting.length >= bufferedMax) flush();
    else cancel ??= clock.after(flushMs, flush);
  };
  const read = async <T>(from: () => T): Promise<T> => {
    flush();
    try {
      return from();
    } catch (cause) {
      if (isAgentError(cause)) throw cause;
      throw new AgentError("STORE_UNAVAILABLE", { message: "The file of the telemetry cannot be read.", cause });
    }
  };

  return {
    events: {
      append: (stream, added) => later(() => added.forEach((event: EventRow) => void events.add(stream, event))),
      read: (stream, query = {}) => read(() => events.read(stream, query)),
    },
    usage: {
      add: (entries) => later(() => entries.forEach((entry) => void usage.add(entry))),
      query: (query = {}) => read(() => usage.query(query)),
    },
    ledger: (how) => sqliteLedger(database, { clock, ...how }),
    close() {
      flush();
      isClosed = true;
      database.close();
    },
  };
}

function opened(path: string): DatabaseSync {
  try {
    if (path !== ":memory:") {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      closeSync(openSync(path, "a", 0o600));
    }
    const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
    const version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
    if (version > schema.version)
      throw new AgentError("STORE_TOO_NEW", { message: "The file of the telemetry was written by a newer version." });
    if (version < schema.version)
      database.exec(`BEGIN IMMEDIATE; ${schema.upgrades[version] ?? schema.tables} PRAGMA user_version = ${schema.version}; COMMIT;`);
    return database;
  } catch (cause) {
    if (cause instanceof AgentError) throw cause;
    throw new AgentError("STORE_UNAVAILABLE", {
      message: `The file of the telemetry cannot be opened: ${textOf(cause)}`,
      fix: "Name a file that this user may write.",
      cause,
    });
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : "unknown");
