import type { Fact } from "@loopwright/core";
import { refKey } from "@loopwright/core/ports";
import type { BackgroundWork } from "../background-work.ts";
import type { OpenLog } from "../log/open-log.ts";
import type { OpenLogs } from "../log/open-logs.ts";
import { storeLimits } from "../store-limits.ts";
import type { SessionSummaries } from "./session-summaries.ts";

export interface SummaryWriterDeps {
  readonly logs: OpenLogs;
  readonly summaries: SessionSummaries;
  readonly background: BackgroundWork;
}

interface Waiting {
  readonly log: OpenLog;
  readonly cancel: () => void;
}

/** Sees when a session comes to rest, and writes its summary then, at most once a second. */
export class SummaryWriter {
  readonly #deps: SummaryWriterDeps;
  readonly #waiting = new Map<string, Waiting>();
  /** When a session was last written down, by the monotonic clock. */
  readonly #writtenAt = new Map<string, number>();

  constructor(deps: SummaryWriterDeps) {
    this.#deps = deps;
  }

  /** To be called with all facts that this process has written. */
  written(log: OpenLog, facts: readonly Fact[]): void {
    const projection = this.#deps.summaries.add(log, facts);
    const name = nameOf(log);
    if (projection?.summary.status === "running" || this.#waiting.has(name)) return;
    const { clock } = log.deps;
    const lastAt = this.#writtenAt.get(name);
    const waitMs = lastAt === undefined ? 0 : Math.max(0, lastAt + storeLimits.summaryEveryMs - clock.monotonic());
    const write = (): void => {
      this.#waiting.delete(name);
      this.#deps.background.add(this.#writeDown(log));
    };
    if (waitMs === 0) write();
    else this.#waiting.set(name, { log, cancel: clock.after(waitMs, write, { idle: true }) });
  }

  /** Writes at once what still waits for its time. */
  hurry(): void {
    for (const [name, { log, cancel }] of this.#waiting) {
      cancel();
      this.#waiting.delete(name);
      this.#deps.background.add(this.#writeDown(log));
    }
  }

  forget(log: OpenLog): void {
    const name = nameOf(log);
    this.#waiting.get(name)?.cancel();
    this.#waiting.delete(name);
    this.#writtenAt.delete(name);
  }

  #writeDown({ ref }: OpenLog): Promise<void> {
    const log = this.#deps.logs.of(ref);
    return log.hold(() => this.#writeHeld(log));
  }

  async #writeHeld(log: OpenLog): Promise<void> {
    const { summaries } = this.#deps;
    this.#remember(nameOf(log), log.deps.clock.monotonic());
    const projection = await summaries.fresh(log);
    if (!projection || projection.summary.status === "running") return;
    await summaries.settle(log, projection);
    // A removal that came in between has looked for the summary too early.
    if ((await log.run(() => log.current())).isRemoved) await summaries.remove(log);
  }

  #remember(name: string, at: number): void {
    this.#writtenAt.delete(name);
    this.#writtenAt.set(name, at);
    for (const [oldest, writtenAt] of this.#writtenAt) {
      if (writtenAt + storeLimits.summaryEveryMs > at) return;
      this.#writtenAt.delete(oldest);
    }
  }
}

const nameOf = ({ ref }: OpenLog): string => refKey(ref);
