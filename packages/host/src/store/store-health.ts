/*
 * Owns: what this node knows of its store: whether it answers, whether it is fit to hold sessions, and which sessions in it are damaged. Every
 * call of a port of the store passes through here, so that a fault is logged once for operators, with any store, and callers never get its details.
 * Does not own: the consequences for a request (routes) or for a run (core).
 * Invariants
 *  W1 a damaged session raises one alarm and counts once for each kind of damage, however often it is read;
 *  W2 a fault of the store is logged when it begins and when it changes, and callers get its code without its text;
 *  W3 nothing is written to a store that may lose data, from the probe that found this to the first probe that finds no flaw.
 */
import { AgentError, errorTable, isAgentError } from "@loopwright/core";
import type { Clock, Logger, SessionRef, SessionStore } from "@loopwright/core/ports";

/** A store, and its state at the last call. */
export interface WatchedStore {
  readonly store: SessionStore;
  /** True if the last call of its log got no answer. */
  isAway(): boolean;
  /** Why the store should not be used now, as an error for callers; `undefined`: it can be used. */
  readonly flaw: AgentError | undefined;
  /** The number of damaged sessions that were found, by code. */
  readonly damages: ReadonlyMap<string, number>;
  /** Raises the alarm for a damaged session that its handle or a reader's cursor has found. */
  damaged(error: AgentError, ref: SessionRef): void;
  /** The logger for the handles of a scope: their messages about damaged sessions raise the same alarm, which is counted once. */
  loggerOf(scope: string): Logger;
  /** Ends the probes. */
  stop(): void;
}

export interface WatchOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  /** How often the store is probed, in milliseconds. */
  readonly probeMs: number;
}

/** Damaged sessions that are remembered so that no alarm is raised twice. */
const alarmsMax = 1_000;
const retryAfterMs = 2_000;
const ofSession: ReadonlySet<string> = new Set(["SESSION_CORRUPT", "HISTORY_LOST"]);
/** Faults that the operator of the store has to mend, and no caller can. */
const isOfOperator = ({ code }: AgentError): boolean =>
  code === "CONFIG_INVALID" || (code.startsWith("STORE_") && code !== "STORE_CONFLICT");

/** Watches the store. Probes it at once, then every `probeMs`. */
export function watchStore(store: SessionStore, options: WatchOptions): WatchedStore {
  return new StoreWatch(store, options);
}

class StoreWatch implements WatchedStore {
  readonly store: SessionStore;
  readonly damages: Map<string, number> = new Map();
  readonly #real: SessionStore;
  readonly #options: WatchOptions;
  readonly #alarmed = new Set<string>();
  #flaw: AgentError | undefined;
  #isAway = false;
  /** The fault that was logged last, until the store answers again. */
  #reported: string | undefined;
  #isStopped = false;
  #cancel = (): void => {};

  constructor(store: SessionStore, options: WatchOptions) {
    this.#real = store;
    this.#options = options;
    this.store = {
      log: this.#watched(store.log, { writes: ["append", "claim"], isLog: true }),
      index: this.#watched(store.index, { writes: ["rebuild"] }),
      blobs: this.#watched(store.blobs, { writes: ["put", "own"] }),
      snapshots: this.#watched(store.snapshots, { writes: ["put"] }),
      close: () => store.close(),
    };
    if (store.probe) void this.#look();
  }

  get flaw(): AgentError | undefined {
    return this.#flaw;
  }

  isAway(): boolean {
    return this.#isAway;
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  /** The port, with each promise that it returns observed. Other return values are passed on as they are. */
  #watched<Port extends object>(
    port: Port,
    { writes, isLog = false }: { readonly writes: readonly string[]; readonly isLog?: boolean },
  ): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        return (...args: readonly unknown[]): unknown => {
          if (this.#isUnsafe && writes.includes(String(name))) return Promise.reject(this.#flaw);
          const answer: unknown = Reflect.apply(member, target, args);
          return answer instanceof Promise ? this.#observed(answer, { ref: args[0], isLog }) : answer;
        };
      },
    });
  }

  /** True if the store may lose data that it has acknowledged. Such a store would accept writes, so they are refused here. */
  get #isUnsafe(): boolean {
    return isAgentError(this.#flaw?.cause, "CONFIG_INVALID");
  }

  async #observed(answer: Promise<unknown>, { ref, isLog }: { readonly ref: unknown; readonly isLog: boolean }): Promise<unknown> {
    try {
      const value = await answer;
      const type = typeof value === "object" && value !== null && "type" in value ? value.type : undefined;
      if (type === "full") this.#report(new AgentError("STORE_FULL", { message: "The store has no space for what was to be written." }));
      else if (isLog && this.#flaw === undefined && type !== "unknown") this.#reported = undefined;
      if (isLog) this.#isAway = type === "unknown";
      return value;
    } catch (error) {
      if (isLog) this.#isAway = !isAgentError(error) || error.code === "STORE_UNAVAILABLE" || error.code === "CONFIG_INVALID";
      if (!isAgentError(error)) throw error;
      if (ofSession.has(error.code) && isRef(ref)) this.damaged(error, ref);
      if (!isOfOperator(error)) throw error;
      this.#report(error);
      throw forCallers(error);
    }
  }

  loggerOf(scope: string): Logger {
    const { logger } = this.#options;
    return {
      log: (level, message, fields = {}) => {
        const { code, session } = fields;
        if (typeof session === "string" && (code === "SESSION_CORRUPT" || code === "HISTORY_LOST"))
          this.damaged(new AgentError(code, { message }), { scope, session });
        else logger.log(level, message, fields);
      },
    };
  }

  damaged(error: AgentError, { scope, session }: SessionRef): void {
    const key = `${error.code} ${scope}/${session}`;
    if (this.#alarmed.has(key) || this.#alarmed.size >= alarmsMax) return;
    this.#alarmed.add(key);
    this.damages.set(error.code, (this.damages.get(error.code) ?? 0) + 1);
    this.#options.logger.log("error", error.message, { ...error.details, code: error.code, scope, session, fix: error.fix });
  }

  #report(error: AgentError): void {
    const written = `${error.code} ${error.message}`;
    if (this.#reported === written) return;
    this.#reported = written;
    this.#options.logger.log("error", error.message, { code: error.code, fix: error.fix });
  }

  async #look(): Promise<void> {
    const { clock, logger, probeMs } = this.#options;
    try {
      await this.#real.probe?.();
      if (this.#flaw) logger.log("warn", "The store can be used again.", { code: this.#flaw.code });
      this.#flaw = undefined;
    } catch (error) {
      const fault = isAgentError(error)
        ? error
        : new AgentError("STORE_UNAVAILABLE", { message: "The probe of the store failed.", cause: error });
      this.#report(fault);
      // A store that does not answer may still have the flaw that an earlier probe found: the flaw stays.
      if (fault.code !== "STORE_UNAVAILABLE") this.#flaw = forCallers(fault);
    }
    if (!this.#isStopped) this.#cancel = clock.after(probeMs, () => void this.#look(), { idle: true });
  }
}

/** The fault without the details that are for the operator alone: addresses, paths, settings. */
function forCallers(error: AgentError): AgentError {
  const code = error.code === "CONFIG_INVALID" || error.code === "STORE_TOO_NEW" ? "STORE_UNAVAILABLE" : error.code;
  const retryable = code === error.code ? error.retryable : true;
  return new AgentError(code, {
    message: errorTable[code].meaning,
    fix: retryable ? "Try again later; the cause is in the log of the server." : "The cause is in the log of the server.",
    retryable,
    retryAfterMs: error.retryAfterMs ?? (retryable ? retryAfterMs : undefined),
    cause: error,
  });
}

function isRef(value: unknown): value is SessionRef {
  return typeof value === "object" && value !== null && "scope" in value && "session" in value;
}
