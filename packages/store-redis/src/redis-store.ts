import { AgentError } from "@loopwright/core";
import { silentLogger } from "@loopwright/core/memory";
import type { Clock, Logger, SessionStore } from "@loopwright/core/ports";
import type { RedisClientOptions } from "@redis/client";
import { redisBlobs } from "./blobs/redis-blobs.ts";
import { checkStore, type RedisReport } from "./check-store.ts";
import { clientFactory } from "./connection/client-factory.ts";
import { Connection } from "./connection/connection.ts";
import { textOf } from "./connection/reply.ts";
import { checkServer, type Durability } from "./connection/startup-checks.ts";
import { storeKeys } from "./keys.ts";
import { FactReader } from "./log/fact-reader.ts";
import { KnownLogs } from "./log/known-logs.ts";
import { redisLog } from "./log/redis-log.ts";
import { RestoreDetection } from "./log/restore-detection.ts";
import { TailSubscriptions } from "./log/tail-subscriptions.ts";
import { type RedisLedger, type RedisLedgerOptions, redisLedger } from "./redis-ledger.ts";
import { redisSnapshots } from "./redis-snapshots.ts";
import { redisIndex, searchedCharactersMax, searchedSessionsMax } from "./views/redis-index.ts";
import { SearchedTexts } from "./views/searched-texts.ts";
import { SessionViews } from "./views/session-views.ts";

export interface RedisStoreOptions {
  /** `redis://user:password@host:port/database`; `rediss:` for TLS. */
  readonly url?: string;
  /** Options of `@redis/client` beside the address or in place of it: TLS, a provider of credentials. How it waits and connects again is the store's. */
  readonly clientOptions?: RedisClientOptions;
  /** What every key begins with. Default `loopwright`. */
  readonly prefix?: string;
  /** `aof` (default) refuses a Redis without an append-only file; `none` accepts that a restart may lose everything. */
  readonly durability?: Durability;
  /**
   * A file that outlives the process, on a disk of this machine: keeps which state of the data was seen last, so that a process that was started
   * anew notices too when Redis went back to an older one. Default: none; then only processes that ran all the time notice.
   */
  readonly marksFile?: string;
  /** How many sessions a search looks at: those changed last. Default 2,000. */
  readonly searchSessionsMax?: number;
  /** How many characters of their texts it looks at, about: where sessions are long, it looks at fewer of them. Default 16,000,000. */
  readonly searchCharactersMax?: number;
  /** How long a command may take. Default 1,500 ms. */
  readonly deadlineMs?: number;
  /** Compares leases, for tests. All processes on a store need the same; default: Redis's own time. */
  readonly clock?: Pick<Clock, "monotonic">;
  /** Gets warnings about what could not be checked. Default: silent. A damaged session is reported to every caller that reads it; a server logs it. */
  readonly logger?: Logger;
}

/** A store in one Redis. */
export interface RedisStore extends SessionStore {
  /** Reads every log and verifies it: for `doctor`, not for every day. A session that was damaged and is whole again may be written again. */
  check(): Promise<RedisReport>;
  probe(): Promise<void>;
  /** A usage ledger in the same Redis, over the same connection: one for all processes that use it with the same limits. */
  ledger(options: RedisLedgerOptions): RedisLedger;
  acceptRestored(): Promise<boolean>;
  /**
   * Runs one command over the connection of the store and gives its answer, for what keeps keys of its own beside the sessions. It is sent at most once.
   * @throws AgentError STORE_UNAVAILABLE also where it may have been executed; STORE_READ_ONLY, STORE_FULL
   */
  command(words: readonly string[]): Promise<unknown>;
}

/** Of texts and summaries more is kept for the next search than one looks at: else what one search looks at would displace itself. */
const keptShare = 2.5;

/**
 * Session log, leases, index, blobs and snapshots in one Redis, for several processes and machines. Nothing is connected before the first use;
 * an idle store does not keep the process alive. A command is sent at most once and answered within the deadline: an append whose answer did
 * not come is `unknown`, everything else STORE_UNAVAILABLE.
 * Methods reject with AgentError STORE_UNAVAILABLE, STORE_READ_ONLY, STORE_FULL, STORE_CORRUPT, SESSION_CORRUPT, HISTORY_LOST,
 * STORE_ROLLED_BACK, or CONFIG_INVALID when the server may not hold sessions.
 * @throws AgentError CONFIG_INVALID for an address or a prefix that cannot be used
 */
export function redisStore(urlOrOptions: string | RedisStoreOptions): RedisStore {
  const options = typeof urlOrOptions === "string" ? { url: urlOrOptions } : urlOrOptions;
  const { deadlineMs = 1_500, durability = "aof", logger = silentLogger, clock, prefix = "loopwright" } = options;
  const { searchSessionsMax = searchedSessionsMax, searchCharactersMax = searchedCharactersMax } = options;
  if (options.url === undefined && options.clientOptions === undefined)
    throw new AgentError("CONFIG_INVALID", { message: "The Redis store has no address.", fix: "Pass `url`, as `redis://localhost:6379`." });
  const keys = storeKeys(prefix);
  const factory = clientFactory({ ...options, durability, deadlineMs, logger });
  const connection = new Connection(factory, deadlineMs);
  const memory = new KnownLogs();
  const reader = new FactReader({ connection, keys, memory });
  const marks = new RestoreDetection({
    ...{ connection, keys, file: options.marksFile },
    isChecked: durability === "aof",
    onAccepted: () => memory.forgetAll(),
  });
  const tails = new TailSubscriptions({ factory, connection, keys, deadlineMs });
  const views = new SessionViews({ connection, keys, reader });
  const texts = new SearchedTexts(views, keptShare * searchCharactersMax);
  let closing: Promise<void> | undefined;
  return {
    log: redisLog({
      ...{ connection, keys, memory, reader, tails, marks },
      now: () => (clock ? String(clock.monotonic()) : ""),
      onRemoved: (ref) => texts.forget(ref),
    }),
    index: redisIndex({ connection, keys, views, texts, searchSessionsMax, searchCharactersMax }),
    blobs: redisBlobs({ connection, keys }),
    snapshots: redisSnapshots({ connection, keys }),
    check: () => checkStore({ connection, keys, reader }),
    async probe() {
      const info = await connection.ask(["INFO"]);
      const { problem } = checkServer(info.type === "replied" ? textOf(info.reply) : undefined, { where: connection.where, durability });
      if (problem) throw problem;
      await marks.look();
    },
    ledger: (limits) => redisLedger({ connection, keys }, limits),
    acceptRestored: () => marks.accept(),
    command: (words) => connection.answer(words),
    close() {
      tails.close();
      closing ??= connection.close();
      return closing;
    },
  };
}
