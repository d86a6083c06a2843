import type { Access, Labels, RunOptions, RunStatus } from "../loop/fact.ts";
import type { UserMessage } from "../message/message.ts";

/** An input that a session gets at a date, or repeatedly. Give `at`, `everyMs`, both, or `cron`. */
export interface ScheduleRequest extends RunOptions {
  readonly input: string | UserMessage;
  /**
   * The first due time: milliseconds since the epoch, an ISO time with an offset (`2027-03-01T09:00Z`), or a local time (`2027-03-01T09:00`) with
   * `timeZone`. Default: `everyMs` from now.
   */
  readonly at?: number | string;
  /** The IANA zone of a local time or of `cron`, for example `Europe/Berlin`. */
  readonly timeZone?: string;
  /** The interval, at least 1,000 ms. Times that are missed fire once together. Default without `cron`: it fires once. */
  readonly everyMs?: number;
  /**
   * A cron expression of five fields (`0 9 * * 1-5`) or a name such as `@daily`, in `timeZone` (default UTC), for a runtime with `scheduleRules`; or an
   * interval such as `@every 1h30m`, which needs no `scheduleRules`.
   */
  readonly cron?: string;
  /**
   * What becomes of due times that no process could fire within a minute, or that came while the last input of the schedule had no answer: `once` fires
   * once for all of them, `skip` leaves them out. Default `once`.
   */
  readonly missed?: "once" | "skip";
  /** `interrupt` stops an open run. Default `enqueue`. */
  readonly mode?: "enqueue" | "interrupt";
  readonly labels?: Labels;
  /** The caller, whose access the runs have. Default: the access that the session was opened with. */
  readonly access?: Access;
}

/** A schedule of a session that will fire, once or repeatedly. */
export interface SessionSchedule extends RunOptions {
  readonly name: string;
  /** The next due time, in milliseconds since the epoch. */
  readonly due: number;
  readonly everyMs?: number;
  readonly cron?: string;
  readonly timeZone?: string;
  readonly missed?: "skip";
  readonly message: UserMessage;
  readonly mode: "enqueue" | "interrupt";
  readonly labels?: Labels;
  /** The user whose access its runs have. */
  readonly user?: string;
}

/** A past due time of a schedule. */
export interface ScheduleFiring {
  readonly name: string;
  readonly due: number;
  /** When it fired or was left out, in milliseconds since the epoch. */
  readonly at: number;
  /** Absent for a time that was left out. */
  readonly runId?: string;
  /** How its run ended; `waiting` before it has begun, `running` while it is open. */
  readonly status: RunStatus | "waiting" | "running" | "skipped";
}

/** Limits of the schedules of a session. */
export const scheduleLimits: {
  readonly perSession: number;
  readonly messageBytes: number;
  readonly everyMinMs: number;
  readonly everyMaxMs: number;
  readonly aheadMaxMs: number;
  readonly lateMs: number;
  readonly cronCharacters: number;
} = {
  perSession: 100,
  /** Bytes of a message as JSON. Limited because the state of the session holds it. */
  messageBytes: 64 * 1024,
  everyMinMs: 1_000,
  everyMaxMs: 366 * 86_400_000,
  aheadMaxMs: 10 * 366 * 86_400_000,
  /** How late a due time may fire, if missed due times are left out. */
  lateMs: 60_000,
  cronCharacters: 200,
};
