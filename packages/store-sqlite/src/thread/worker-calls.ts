import type { Worker } from "node:worker_threads";
import { AgentError } from "@loopwright/core";
import { startDeadline, systemClock } from "@loopwright/core/memory";
import type { Answer, Ask, Batch, Call, Fault, OperationName, Result, WorkerMessage, WorkerOptions } from "../operation.ts";
import { keepWorker, takeWorker } from "./spare-worker.ts";

/** The outcome of a call. `uncertain`: the write may have happened or not. */
export type Outcome<Name extends OperationName> =
  | { readonly type: "answered"; readonly answer: Answer<Name> }
  | { readonly type: "uncertain"; readonly fault: Fault }
  | { readonly type: "failed"; readonly fault: Fault };

interface Waiting {
  readonly call: Call;
  readonly settle: (result: Result) => void;
}

/** How the worker is started and taken back, and how long it may take for one batch before its writes count as uncertain. */
export interface WorkerCallsOptions {
  readonly path: string;
  readonly start: () => Worker;
  /** Takes back a worker that has closed its file. */
  readonly finish: (worker: Worker) => Promise<unknown>;
  readonly answerMsMax: number;
}

const answerMsMax = 30_000;

/** The worker of this package, for a file. */
export function storeWorkerOf(options: WorkerOptions): WorkerCallsOptions {
  const start = (): Worker => {
    const worker = takeWorker();
    worker.postMessage({ open: options } satisfies WorkerMessage);
    return worker;
  };
  return { path: options.path, start, finish: keepWorker, answerMsMax };
}

/** What an operation of a store asks the worker with. */
export interface Asking {
  /** Asks the worker. Never rejects. */
  ask<Name extends OperationName>(name: Name, ask: Ask<Name>): Promise<Outcome<Name>>;
}

/**
 * Sends calls to the worker, one batch at a time; calls that come meanwhile are sent together in the next batch, so that many appends share one
 * write to the disk. The worker starts with the first call and keeps the process alive only while a caller waits for an answer.
 */
export class WorkerCalls implements Asking {
  readonly #options: WorkerCallsOptions;
  #worker: Worker | undefined;
  #queue: Waiting[] = [];
  #underWay: readonly Waiting[] = [];
  #cancelDeadline = (): void => {};
  #isStalled = false;
  #isEnding = false;
  #isScheduled = false;
  /** Operations of several calls in progress. */
  #operationCount = 0;
  readonly #idle: (() => void)[] = [];

  constructor(options: WorkerCallsOptions) {
    this.#options = options;
  }

  /** Refused from the moment `end` is called. */
  ask<Name extends OperationName>(name: Name, ask: Ask<Name>): Promise<Outcome<Name>> {
    if (this.#isEnding) return Promise.resolve({ type: "failed", fault: this.#closed() });
    return this.#put(name, ask);
  }

  /** Runs an operation of several calls: `end` waits for it, and it may ask until it has ended. */
  async together<T>(operation: (calls: Asking) => Promise<T>): Promise<T> {
    if (this.#isEnding) return operation(this);
    this.#operationCount++;
    try {
      return await operation({ ask: (name, ask) => this.#put(name, ask) });
    } finally {
      this.#operationCount--;
      this.#wakeIfIdle();
    }
  }

  /**
   * Refuses new calls, waits for those in progress, then closes the file and returns the worker; terminates a worker that does not answer. Nothing
   * is under way when the worker is returned, because it would answer the next store.
   */
  async end(): Promise<void> {
    this.#isEnding = true;
    if (this.#isBusy()) await new Promise<void>((resolve) => this.#idle.push(resolve));
    const closed = this.#worker && !this.#isStalled ? await this.#put("close", {}) : undefined;
    const worker = this.#worker;
    this.#worker = undefined;
    if (worker) await (closed?.type === "answered" ? this.#options.finish(worker) : worker.terminate());
  }

  #put<Name extends OperationName>(name: Name, ask: Ask<Name>): Promise<Outcome<Name>> {
    if (this.#isStalled) return Promise.resolve({ type: "failed", fault: this.#noAnswer() });
    return new Promise((resolve) => {
      // The name decides the type of both; the compiler does not see through the union.
      const call = { name, ask } as Call;
      this.#queue.push({ call, settle: (result) => resolve(outcomeOf(result) as Outcome<Name>) });
      this.#schedule();
    });
  }

  /** Of a worker that does not answer nothing is waited for. */
  #isBusy(): boolean {
    return this.#operationCount > 0 || (!this.#isStalled && (this.#queue.length > 0 || this.#underWay.length > 0));
  }

  #wakeIfIdle(): void {
    if (this.#isBusy()) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** At the end of this tick, so that calls of one moment travel together. */
  #schedule(): void {
    if (this.#isScheduled || this.#underWay.length > 0) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#send();
    });
  }

  #send(): void {
    if (this.#underWay.length > 0 || this.#queue.length === 0) return;
    this.#underWay = this.#queue;
    this.#queue = [];
    const calls = this.#underWay.map(({ call }) => call);
    try {
      const worker = this.#worker ?? this.#start();
      worker.ref();
      worker.postMessage({ calls } satisfies Batch, transferOf(calls));
    } catch (error) {
      this.#fail(
        { code: "STORE_UNAVAILABLE", message: `The worker of the store ${this.#options.path} cannot be asked: ${nameOf(error)}.` },
        false,
      );
      return;
    }
    // The worker is a thread of this process: where the process is stopped or starved, so is the worker.
    this.#cancelDeadline = startDeadline(systemClock, { ms: this.#options.answerMsMax }, () => this.#stall());
  }

  #start(): Worker {
    const worker = this.#options.start();
    worker.on("message", (results: readonly Result[]) => this.#receive(results));
    worker.on("error", (error) => this.#lose(worker, error instanceof Error ? `${error.name}: ${error.message}` : typeof error));
    worker.on("exit", (code) => this.#lose(worker, `exit code ${code}`));
    this.#worker = worker;
    return worker;
  }

  #receive(results: readonly Result[]): void {
    const answered = this.#take();
    this.#isStalled = false;
    for (const [at, { settle }] of answered.entries()) settle(results[at] ?? { fault: this.#noAnswer(), uncertain: true });
    this.#proceed();
  }

  /** Takes the batch in progress, which ends with this. */
  #take(): readonly Waiting[] {
    this.#cancelDeadline();
    const taken = this.#underWay;
    this.#underWay = [];
    return taken;
  }

  #proceed(): void {
    if (this.#queue.length > 0) {
      this.#send();
      return;
    }
    this.#worker?.unref();
    this.#wakeIfIdle();
  }

  /** Handles a late worker: the waiting calls fail, and new calls fail at once until it answers. */
  #stall(): void {
    this.#isStalled = true;
    const late = this.#underWay;
    const queued = this.#queue;
    this.#queue = [];
    this.#underWay = late.map(({ call }) => ({ call, settle() {} }));
    for (const { settle } of late) settle({ fault: this.#noAnswer(), uncertain: true });
    for (const { settle } of queued) settle({ fault: this.#noAnswer() });
    this.#worker?.unref();
    this.#wakeIfIdle();
  }

  #lose(worker: Worker, reason: string): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#isStalled = false;
    this.#fail({ code: "STORE_UNAVAILABLE", message: `The worker of the store ${this.#options.path} ended: ${reason}.` }, true);
  }

  #fail(fault: Fault, uncertain: boolean): void {
    for (const { settle } of this.#take()) settle({ fault, uncertain });
    this.#proceed();
  }

  #closed(): Fault {
    return { code: "STORE_UNAVAILABLE", message: `The store ${this.#options.path} is closed.`, fix: "Open a new one." };
  }

  #noAnswer(): Fault {
    return {
      code: "STORE_UNAVAILABLE",
      message: `The store ${this.#options.path} did not answer within ${this.#options.answerMsMax} ms.`,
      fix: "Check the disk; read the session to see what was written.",
    };
  }
}

/** The error that a fault becomes for the caller of a store. */
export function errorOf({ code, message, fix }: Fault): AgentError {
  return new AgentError(code, { message, fix });
}

function outcomeOf(result: Result): Outcome<OperationName> {
  if ("answer" in result) return { type: "answered", answer: result.answer };
  return { type: result.uncertain ? "uncertain" : "failed", fault: result.fault };
}

/** The memory of blobs moves to the worker; the sender has made a copy of its own. */
function transferOf(calls: readonly Call[]): readonly ArrayBuffer[] {
  return calls.flatMap((call) => (call.name === "putBlob" && call.ask.bytes.buffer instanceof ArrayBuffer ? [call.ask.bytes.buffer] : []));
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
