/*
 * Owns: the connection to the file and what a batch of calls does to it. Does not own: threads, time.
 * Invariants
 *  I1 a call that writes is answered only after its transaction is on the disk.
 *  I2 all writes that came together share one transaction; when that fails each is tried alone, so that none spoils another.
 *  I3 a call whose write may or may not have reached the disk is answered as uncertain, and the connection is made anew.
 *  I4 damage that a call has seen is in the file before the call is answered, where the file can be written.
 *  I5 what a removal has left in the file is erased before it is answered, where no other process is in the way; else by a later call.
 */
import type { SessionRef } from "@loopwright/core/ports";
import { getBlob, listBlobs, ownBlob, putBlob, removeBlob } from "./blob-operations.ts";
import { check, hasWrongMark, liftMarks } from "./check-operation.ts";
import { due, setDue } from "./due-operations.ts";
import { eraseTraces } from "./erase-traces.ts";
import { FileWatch } from "./file-watch.ts";
import { type FreshProjections, get, list, rebuild, saveProjections } from "./index-operations.ts";
import { hasUnindexed, indexInMemory, indexSomeTexts } from "./index-words.ts";
import { claim, head, release, renew } from "./lease-operations.ts";
import { append, read, remove } from "./log-operations.ts";
import { isMissing, mayWrite, type OpenedDatabase, openDatabase, openOnFullDisk } from "./open-database.ts";
import type { Answer, Ask, Call, Fault, OperationName, Result, WorkerOptions } from "./operation.ts";
import { Quarantine } from "./quarantine.ts";
import { search } from "./search-operations.ts";
import { findSession, tailOf } from "./session-rows.ts";
import { numberOf, type Statements, statementsOf, textOf } from "./statements.ts";
import { diskFault, faultOf, isBusy, isIoError, isOfOneSession, isReadOnly, readOnlyFault, StoreFault } from "./store-fault.ts";

const writing: ReadonlySet<OperationName> = new Set([
  ...(["append", "claim", "renew", "release", "setDue", "remove", "rebuild"] as const),
  ...(["putBlob", "ownBlob", "removeBlob", "putSnapshot", "removeSnapshot"] as const),
]);

/** What can be answered without a write, also on a disk without space. */
const reading: ReadonlySet<OperationName> = new Set([
  ...(["read", "head", "list", "get", "search", "getBlob", "listBlobs", "getSnapshot", "indexWords", "check", "close"] as const),
]);

type Handlers = { readonly [Name in OperationName]: (engine: StoreEngine, ask: Ask<Name>) => Answer<Name> };

const handlers: Handlers = {
  append: ({ statements, quarantine }, ask) =>
    quarantine.watch(ask.ref, () => {
      const outcome = append(statements, ask);
      // Nothing stays written: the transaction is rolled back.
      if (outcome.type === "ok") quarantine.check(ask.ref);
      return outcome;
    }),
  read: ({ statements, quarantine }, ask) => quarantine.watch(ask.ref, () => read(statements, ask.ref, ask)),
  head: ({ statements }, ask) => head(statements, ask),
  tails: (engine, { refs, always }) => (engine.hasForeignChange() || always ? refs.map((ref) => engine.tailOf(ref)) : undefined),
  claim: ({ statements }, ask) => claim(statements, ask),
  renew: ({ statements }, ask) => renew(statements, ask),
  release: ({ statements }, { ref, epoch }) => void release(statements, ref, epoch),
  due(engine, ask) {
    // No session can be claimed there; and a file of an older version has no dates.
    if (engine.isReadOnly) throw new StoreFault(readOnlyFault(engine.path));
    return due(engine.statements, ask);
  },
  setDue: ({ statements }, ask) => void setDue(statements, ask),
  remove({ statements, quarantine }, { ref }) {
    remove(statements, ref);
    quarantine.forget(ref);
    return undefined;
  },
  list: ({ statements, fresh }, ask) => list(statements, ask, fresh),
  get: ({ statements, fresh }, ask) => get(statements, ask, fresh),
  search(engine, ask) {
    if (engine.isReadOnly) indexInMemory(engine.statements, ask.scope);
    return search(engine.statements, ask, engine.fresh);
  },
  indexWords: (engine, { scope }) => engine.indexWords(scope),
  rebuild: ({ statements }, { scope }) => rebuild(statements, scope),
  putBlob: ({ statements }, ask) => putBlob(statements, ask),
  getBlob: ({ statements }, ask) => getBlob(statements, ask),
  ownBlob: ({ statements }, ask) => ownBlob(statements, ask),
  removeBlob: ({ statements }, ask) => removeBlob(statements, ask),
  listBlobs: ({ statements }, ask) => listBlobs(statements, ask),
  putSnapshot({ statements }, { ref, name, text }) {
    if (findSession(statements, ref)?.isRemoved) return undefined;
    const sql = "INSERT INTO drafts (scope, session, name, value) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value";
    statements.run(sql, ref.scope, ref.session, name, text);
    return undefined;
  },
  getSnapshot: ({ statements }, { ref, name }) =>
    textOf(
      statements.one("SELECT value FROM drafts WHERE scope = ? AND session = ? AND name = ?", ref.scope, ref.session, name),
      "value",
    ) ?? undefined,
  removeSnapshot: ({ statements }, { ref, name }) =>
    void statements.run("DELETE FROM drafts WHERE scope = ? AND session = ? AND name = ?", ref.scope, ref.session, name),
  condemn({ quarantine }, { ref, message }) {
    quarantine.note(ref, new StoreFault({ code: "SESSION_CORRUPT", message }));
    return undefined;
  },
  check(engine) {
    // What was seen before may have been mended.
    engine.quarantine.forgetAll();
    const report = check(engine.statements, engine.path, engine.quarantine);
    if (!engine.isReadOnly && hasWrongMark(engine.statements, report)) engine.liftMarks();
    return report;
  },
  close(engine) {
    engine.keepQuarantine();
    engine.close();
    return undefined;
  },
};

/** Serves batches of calls on one file, which is opened at the first of them. */
export class StoreEngine {
  readonly #options: WorkerOptions;
  /** Projections folded for an answer, to be kept when there is time. */
  readonly fresh: FreshProjections = new Map();
  readonly quarantine: Quarantine = new Quarantine();
  #opened: OpenedDatabase | undefined;
  /** True while the file is missing and an empty database stands in for it. */
  #isStandIn = false;
  /** The disk failed, and it is not known what of the last writes is on it. */
  #isUncertain = false;
  #statements: Statements | undefined;
  #dataVersion = -1;
  /** The batch under way has had its step of indexing. */
  #hasIndexed = false;
  /** Removed sessions may have left something in the file. */
  #mayOweErasure = true;
  readonly #watch: FileWatch;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#watch = new FileWatch(options.path);
  }

  get path(): string {
    return this.#options.path;
  }

  get isReadOnly(): boolean {
    return this.#opened?.isReadOnly ?? false;
  }

  get statements(): Statements {
    if (!this.#statements) throw new StoreFault({ code: "INTERNAL", message: `The store ${this.path} is not open.` });
    return this.#statements;
  }

  /** One result per call, in order. Never throws. */
  serve(calls: readonly Call[]): readonly Result[] {
    this.#hasIndexed = false;
    const isWrite = calls.some(({ name }) => writing.has(name));
    try {
      this.#open(
        isWrite,
        calls.every(({ name }) => reading.has(name)),
      );
    } catch (error) {
      return calls.map((call) => (call.name === "close" ? { answer: undefined } : this.#failed(call, error)));
    }
    const results: Result[] = [];
    for (let at = 0; at < calls.length; ) {
      // Neighbours that write, and plain reads among them, share a transaction.
      let end = at;
      while (end < calls.length && isPlain(calls[end])) end++;
      if (end === at) end++;
      results.push(...this.#serveSome(calls.slice(at, end)));
      at = end;
    }
    if (isWrite || this.quarantine.hasNew) this.keepQuarantine();
    // A sweep (`due`) does it too: another process may have died before it had erased everything.
    const hasRemoved = calls.some(({ name }) => name === "remove");
    if (hasRemoved || this.#mayOweErasure || calls.some(({ name }) => name === "due")) this.#eraseTraces(hasRemoved);
    if (this.#opened?.isExclusive) this.close();
    return results;
  }

  /** Not inside a transaction: the write-ahead log is emptied between two. */
  #eraseTraces(mayWait: boolean): void {
    if (!this.#opened || this.#opened.isReadOnly || this.#isStandIn) return;
    const { busyTimeoutMs } = this.#options;
    const transaction = (work: () => void): void => this.#ownTransaction(work);
    try {
      eraseTraces({ statements: this.statements, transaction, waitMs: mayWait ? busyTimeoutMs : 0, busyTimeoutMs });
      this.#mayOweErasure = false;
    } catch {
      // The file records what is left to do, and the next call tries again.
      this.#mayOweErasure = true;
    }
  }

  /** Keeps what was folded for answers. To be called when no caller waits; does nothing when the file is busy. */
  keepProjections(): void {
    if (this.fresh.size === 0 || !this.#opened || this.#opened.isReadOnly || this.#isStandIn) return;
    try {
      this.#transaction(() => saveProjections(this.statements, this.fresh));
    } catch {
      // A projection is folded again at the next question.
    }
    this.fresh.clear();
  }

  /** Writes the damage that was seen into the file. Where that fails this connection keeps it in mind, and tries again at the next write. */
  keepQuarantine(): void {
    if (!this.#opened || this.#opened.isReadOnly || this.#isStandIn) return;
    try {
      this.quarantine.keep(this.statements, (work) => this.#ownTransaction(work));
    } catch {
      // The caller gets the damage as its error all the same.
    }
  }

  /** Takes the marks from sessions that are whole again. */
  liftMarks(): void {
    this.#ownTransaction(() => liftMarks(this.statements, this.quarantine));
  }

  /** One step for all calls of one batch, in a transaction of its own. True: there is more to do, what came meanwhile not counted. */
  indexWords(scope: string): boolean {
    if (this.isReadOnly || !hasUnindexed(this.statements, scope)) return false;
    if (!this.#hasIndexed) this.#transaction(() => indexSomeTexts(this.statements, scope));
    this.#hasIndexed = true;
    return hasUnindexed(this.statements, scope);
  }

  /** Where a log ends; `undefined` where that cannot be read either: its reader gets the error, and the others get their answers. */
  tailOf(ref: SessionRef): number | undefined {
    try {
      return tailOf(findSession(this.statements, ref));
    } catch (error) {
      if (isOfOneSession(error)) return undefined;
      throw error;
    }
  }

  /** Whether another connection has written since the last question. */
  hasForeignChange(): boolean {
    const version = numberOf(this.statements.one("PRAGMA data_version"), "data_version");
    const hasChanged = version !== this.#dataVersion;
    this.#dataVersion = version;
    return hasChanged;
  }

  close(): void {
    const opened = this.#opened;
    this.#opened = undefined;
    this.#statements = undefined;
    opened?.database.close();
  }

  #open(isWrite: boolean, isReading: boolean): void {
    this.#checkFile();
    if (this.#isStandIn && (isWrite || !isMissing(this.path))) this.close();
    // Permissions may have come back.
    if (isWrite && this.#opened?.isReadOnly && mayWrite(this.path)) this.close();
    if (this.#opened) return;
    // Looking into a store that is not there makes no file.
    this.#isStandIn = !isWrite && isMissing(this.path);
    const options = this.#isStandIn ? { ...this.#options, path: ":memory:" } : this.#options;
    try {
      this.#opened = openDatabase(options, this.#isUncertain);
    } catch (error) {
      // What is uncertain is settled first, which is a write.
      if (!isReading || this.#isUncertain) throw error;
      this.#opened = openOnFullDisk(options, error);
    }
    this.#isUncertain = false;
    if (this.path !== ":memory:" && !this.#isStandIn) this.#watch.opened();
    this.#statements = statementsOf(this.#opened.database);
  }

  /** Nothing is asked of a file that is not the one that was opened, or not all of it. */
  #checkFile(): void {
    const fault = this.#watch.fault();
    if (!fault) return;
    try {
      this.close();
    } catch {
      // It is given up in any case.
    }
    throw new StoreFault(fault);
  }

  #serveSome(calls: readonly Call[]): readonly Result[] {
    if (!calls.some(({ name }) => writing.has(name))) return calls.map((call) => this.#attempt(call));
    if (this.#opened?.isReadOnly)
      return calls.map((call) => (writing.has(call.name) ? { fault: readOnlyFault(this.path) } : this.#attempt(call)));
    try {
      return this.#transaction(() => calls.map((call) => ({ answer: handle(this, call) })));
    } catch (error) {
      if (isIoError(error) || this.#isRefusedByDisk(error)) return this.#uncertain(calls, error);
      const [only] = calls;
      if (calls.length > 1 && !isBusy(error)) return calls.flatMap((call) => this.#serveSome([call]));
      return only && calls.length === 1 ? [this.#failed(only, error)] : calls.map((call) => this.#failed(call, error));
    }
  }

  #attempt(call: Call): Result {
    try {
      return { answer: handle(this, call) };
    } catch (error) {
      return this.#failed(call, error);
    }
  }

  #transaction<T>(work: () => T): T {
    const { statements } = this;
    statements.run("BEGIN IMMEDIATE");
    try {
      const done = work();
      statements.run("COMMIT");
      return done;
    } catch (error) {
      // Some errors have rolled back already.
      if (this.#opened?.database.isTransaction) statements.run("ROLLBACK");
      throw error;
    }
  }

  /** A transaction that no call has asked for. */
  #ownTransaction(work: () => void): void {
    try {
      this.#transaction(work);
    } catch (error) {
      if (isIoError(error) || this.#isRefusedByDisk(error)) this.#uncertain([], error);
      throw error;
    }
  }

  /** After a failing disk nothing that this connection believes counts: it is closed, and the next call makes sure of what is there. */
  #uncertain(calls: readonly Call[], error: unknown): readonly Result[] {
    const fault = this.#faultOf(error);
    this.#isUncertain = true;
    try {
      this.close();
    } catch {
      // It is given up in any case.
    }
    return calls.map(() => ({ fault, uncertain: true }));
  }

  /** Where a failing disk does not let the engine open a file for writing, it opens it for reading, and refuses every write from then on. */
  #isRefusedByDisk(error: unknown): boolean {
    return isReadOnly(error) && mayWrite(this.path);
  }

  #faultOf(error: unknown): Fault {
    return this.#isRefusedByDisk(error) ? diskFault(this.path) : faultOf(error, this.path);
  }

  #failed(call: Call, error: unknown): Result {
    const isRefused = isReadOnly(error) && writing.has(call.name) && !isMissing(this.path) && !this.#isRefusedByDisk(error);
    const fault = isRefused ? readOnlyFault(this.path) : this.#faultOf(error);
    return call.name === "append" && fault.code === "STORE_FULL" ? { answer: { type: "full" } } : { fault };
  }
}

function isPlain(call: Call | undefined): boolean {
  return call !== undefined && call.name !== "search" && call.name !== "indexWords" && call.name !== "close" && call.name !== "check";
}

/** The one place where a call meets its handler. */
function handle<Name extends OperationName>(
  engine: StoreEngine,
  call: { readonly name: Name; readonly ask: Ask<Name> },
): Answer<OperationName> {
  return handlers[call.name](engine, call.ask);
}
