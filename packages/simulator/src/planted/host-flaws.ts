import type { SourceFlaw } from "./source-flaws.ts";

const sweeper = "work/sweep-for-unhinted-sessions.ts";
const worker = "work/run-hinted-sessions.ts";
const loaded = "sessions/load-and-evict.ts";
const leaving = "work/graceful-shutdown.ts";

/** Flaws of a host: in its sweeps, in how it lets go of sessions, and in how it hands over. */
export const hostFlaws: readonly SourceFlaw[] = [
  {
    name: "a sweep leaves out a session whose owner died",
    file: sweeper,
    good: "if (isLeftAlone(ref)) continue;",
    bad: "if (isLeftAlone(ref) || (await log.head(ref)).epoch > 0) continue;",
  },
  {
    name: "a worker takes what another process holds",
    file: worker,
    good: "if (lastSeq === 0 || (lease && lease.node !== host.node)) return;",
    bad: "if (lastSeq === 0) return;",
  },
  {
    name: "a session that could not be opened once is forgotten",
    file: worker,
    good: "until: clock.monotonic() + waitMs, waitMs",
    bad: "until: Number.POSITIVE_INFINITY, waitMs",
  },
  {
    name: "sweeps end with the first that fails",
    file: sweeper,
    good: "if (!isStopped) cancel =",
    bad: "if (!isStopped && !isFailing) cancel =",
  },
  {
    name: "a session that is used is evicted as idle",
    file: loaded,
    good: "return isUnused(entry) && entry.session.lastSeq > 0",
    bad: "return entry.session.lastSeq > 0",
  },
  {
    name: "a session that runs is evicted as idle",
    file: loaded,
    good: "(entry.session.isResting || !drives)",
    bad: "(entry.session.lastSeq > 0 || !drives)",
  },
  {
    name: "an evicted session keeps its lease and its subscriptions",
    file: loaded,
    good: "await entry.session[Symbol.asyncDispose]();",
    bad: "await Promise.resolve();",
  },
  {
    name: "listeners for the end of a loaded session are not called",
    file: loaded,
    good: "for (const listener of entry.goneListeners) listener();",
    bad: "",
  },
  {
    name: "a session is never idle where its log is polled",
    file: loaded,
    good: "rested: () => this.#noteRest(entry),",
    bad: "rested: () => this.#noteQuiet(entry),",
  },
  {
    name: "a hand-over does not wait for what ends soon",
    file: loaded,
    good: "if (handsOver) await Promise.all(",
    bad: "if (handsOver) void Promise.all(",
    script: "two once in parallel",
  },
  {
    name: "a hand-over wakes no next owner",
    file: leaving,
    good: "await Promise.all([work?.leave(left), stopped]);",
    bad: "await stopped;",
    script: "once",
  },
  {
    name: "a process looks for work after its hand-over",
    file: leaving,
    good: "stopped ??= work?.stop();",
    bad: "stopped ??= Promise.resolve();",
  },
  {
    name: "a session is released while what is handed over is under way",
    in: "core",
    file: "driver/session/batch-decision.ts",
    good: "if (running > accepted",
    bad: 'if (phase !== "leaving" && running > accepted',
    script: "two once in parallel",
  },
  {
    name: "an owner that hands over claims the session again",
    in: "core",
    file: "driver/session/session-phase.ts",
    good: 'const mayOwn = phase.mayOwn && signal !== "hand-over";',
    bad: "const { mayOwn } = phase;",
    script: "once",
  },
].map((flaw) => ({ in: "host" as const, isOfHost: true, ...flaw }) as SourceFlaw);
