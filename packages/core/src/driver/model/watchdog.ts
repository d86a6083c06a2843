import type { CallDeadlines } from "../../agent/agent.ts";
import { AgentError } from "../../errors.ts";
import type { Clock } from "../../ports/clock.ts";
import { driverLimits } from "../setup/session-options.ts";

/** Ends a model call that is silent for too long. One timer per call, none per delta. */
export interface Watchdog {
  /** Content came. */
  content(): void;
  /** A sign of life without content came. */
  alive(): void;
  stop(): void;
}

export function watchModelCall(
  { clock, deadlines }: { readonly clock: Clock; readonly deadlines: CallDeadlines },
  onTimeout: (error: AgentError) => void,
): Watchdog {
  const startedAt = clock.monotonic();
  let contentAt: number | undefined;
  let aliveAt: number | undefined;
  let cancel = (): void => {};
  /** When the timer looks again. */
  let looksAt = 0;

  /** Every deadline that holds now, with what it means. */
  const due = (): { readonly at: number; readonly what: string } => {
    const total = { at: startedAt + deadlines.totalMs, what: `was not complete after ${deadlines.totalMs} ms` };
    if (aliveAt === undefined)
      return soonest(total, { at: startedAt + deadlines.firstByteMs, what: `sent nothing for ${deadlines.firstByteMs} ms` });
    const idle = { at: aliveAt + deadlines.idleMs, what: `fell silent for ${deadlines.idleMs} ms` };
    const pingsAlone = {
      at: (contentAt ?? startedAt) + driverLimits.pingsAloneMs,
      what: `sent only pings for ${driverLimits.pingsAloneMs} ms`,
    };
    return soonest(total, soonest(idle, pingsAlone));
  };

  const check = (): void => {
    cancel();
    const { at, what } = due();
    looksAt = at;
    const leftMs = at - clock.monotonic();
    if (leftMs > 0) cancel = clock.after(Math.ceil(leftMs), check);
    else onTimeout(new AgentError("MODEL_TIMEOUT", { message: `The model ${what}.`, details: { ...deadlines } }));
  };
  check();

  /** From the first sign on another deadline holds, which may come sooner than the one that is waited for. Later ones only move it away. */
  const sign = (now: number): void => {
    const isFirst = aliveAt === undefined;
    aliveAt = now;
    if (isFirst && due().at < looksAt) check();
  };

  return {
    content() {
      const now = clock.monotonic();
      contentAt = now;
      sign(now);
    },
    alive: () => sign(clock.monotonic()),
    stop: () => cancel(),
  };
}

const soonest = <T extends { readonly at: number }>(a: T, b: T): T => (a.at <= b.at ? a : b);
