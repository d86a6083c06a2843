import type { Clock } from "@loopwright/core/protocol";
import { backOffMs, deliveryOf, type HeldSession, type NewsParts, type NewsRecord, type Pass } from "./deliver-news.ts";
import { patienceMs, sweepEveryMs } from "./webhook-limits.ts";

/** How deliveries to a target are. */
export interface WebhookStatus {
  readonly state: "working" | "failing" | "disabled";
  /** Milliseconds since the epoch. */
  readonly since?: number;
  readonly reason?: string;
  /** Sessions whose next event is not taken, while those of others are. */
  readonly held?: readonly HeldSession[];
}

/** What is kept of a target. */
interface TargetRecord extends NewsRecord {
  readonly failing?: { readonly since: number; readonly attempts: number; readonly reason: string } | undefined;
  readonly disabled?: { readonly since: number; readonly reason: string } | undefined;
}

/** Deliveries to one target. */
export interface TargetLoop {
  status(): WebhookStatus;
  enable(): void;
  readonly ended: Promise<void>;
}

/** Delivers to one target until the signal is aborted. */
export function targetLoop(parts: NewsParts): TargetLoop {
  const { target, memory, clock, report, signal } = parts;
  const key = `target:${target.name}`;
  const begun = clock.now();
  // The memory is this package's own: what it returns was written below.
  const record = (): TargetRecord => (memory.read(key) as TargetRecord | undefined) ?? { begun, swept: begun };
  const change = (fields: Partial<TargetRecord>): void => memory.write(key, { ...record(), ...fields });
  change({});
  const bell = wakeUpCall(clock, signal);
  const fail = ({ kind, reason }: Exclude<Pass, { kind: "done" }>): void => {
    const { since = clock.now(), attempts = 0 } = record().failing ?? {};
    const isOver = kind === "refused" || clock.now() - since >= patienceMs;
    change({ failing: { since, attempts: attempts + 1, reason } });
    // Each held session has a report of its own.
    if (attempts === 0 && !isOver && kind !== "held")
      report(`The webhook ${target.name} does not take its deliveries: ${reason}. They are sent again.`, undefined);
    if (!isOver) return;
    change({ disabled: { since: clock.now(), reason } });
    report(
      `The webhook ${target.name} is disabled: ${reason}${attempts > 0 ? `, at each of ${attempts + 1} attempts since ${new Date(since).toISOString()}` : ""}. What it misses is delivered once it is enabled.`,
      undefined,
    );
  };
  const news = deliveryOf(parts, { record, change });
  /** Delivers what there is. Gives how long to wait for more; `isFixed`: whatever rings, all news are known then. */
  const deliver = async (): Promise<{ readonly waitMs: number; readonly isFixed?: true }> => {
    if (record().disabled) return { waitMs: sweepEveryMs };
    const { pass, hasTaken } = await news.deliver();
    if ((hasTaken || pass.kind === "done") && record().failing) change({ failing: undefined });
    if (pass.kind === "done") return { waitMs: sweepEveryMs };
    if (pass.kind === "held") {
      if (pass.isTried) fail(pass);
      return { waitMs: Math.min(sweepEveryMs, pass.waitMs) };
    }
    fail(pass);
    const retryAfterMs = pass.kind === "failed" ? pass.retryAfterMs : undefined;
    return { waitMs: retryAfterMs ?? backOffMs(record().failing?.attempts ?? 1, parts.random), isFixed: true };
  };
  const run = async (): Promise<void> => {
    let failures = 0;
    while (!signal.aborted) {
      try {
        const { waitMs, isFixed } = await deliver();
        failures = 0;
        await (isFixed ? bell.rest(waitMs) : bell.wait(waitMs));
      } catch (error) {
        if (signal.aborted) return;
        if (failures === 0) report(`The news for the webhook ${target.name} could not be read. They are asked for again.`, error);
        await bell.rest(
          Math.min(
            sweepEveryMs,
            backOffMs(++failures, () => 1),
          ),
        );
      }
    }
  };
  return {
    status() {
      const { failing, disabled } = record();
      if (disabled) return { state: "disabled", ...disabled };
      const held = news.held();
      const more = held.length > 0 ? { held } : {};
      return failing ? { state: "failing", since: failing.since, reason: failing.reason, ...more } : { state: "working", ...more };
    },
    enable() {
      change({ disabled: undefined, failing: undefined });
      news.release();
      bell.wake();
    },
    ended: Promise.all([run(), listen(parts, bell.ring)]).then(() => {}),
  };
}

/** Rings when the server has news. */
async function listen({ client, clock, signal }: NewsParts, ring: () => void): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const batch of client.notifications({ signal }))
        if (batch.some(({ type }) => type === "session_hint" || type === "hints_missed")) ring();
    } catch {
      // Without hints the sweeps find everything, and report what goes wrong.
    }
    await wakeUpCall(clock, signal).rest(sweepEveryMs);
  }
}

interface WakeUpCall {
  /** There is news. */
  ring(): void;
  /** Ends whatever waits. */
  wake(): void;
  /** Until it rings, or has rung since the last wait. */
  wait(ms: number): Promise<void>;
  /** So long, whatever rings: all news are known then. */
  rest(ms: number): Promise<void>;
}

/** Waits that a bell ends. */
function wakeUpCall(clock: Pick<Clock, "after">, signal: AbortSignal): WakeUpCall {
  let isRung = false;
  let isResting = false;
  let end = (): void => {};
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      end = () => {
        cancel();
        signal.removeEventListener("abort", end);
        end = () => {};
        resolve();
      };
      const cancel = clock.after(ms, () => end());
      signal.addEventListener("abort", end, { once: true });
      if (signal.aborted) end();
    });
  return {
    ring() {
      isRung = true;
      if (!isResting) end();
    },
    wake() {
      isRung = true;
      end();
    },
    async wait(ms) {
      if (!isRung) await pause(ms);
      isRung = false;
    },
    async rest(ms) {
      isResting = true;
      await pause(ms);
      isResting = false;
      isRung = false;
    },
  };
}
