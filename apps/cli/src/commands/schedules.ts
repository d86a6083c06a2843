import { AgentError, type ScheduleFiring, type SessionSchedule } from "@loopwright/core";
import { exitCodes } from "../exit-code.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { oneLine } from "../terminal/neutralise.ts";
import { print, type SessionFlags, withShelf } from "./sessions.ts";

interface ScheduleFlags extends SessionFlags {
  readonly at?: string;
  readonly timeZone?: string;
  readonly every?: string;
  readonly cron?: string;
  readonly skipMissed?: boolean;
  readonly interrupt?: boolean;
}

interface ScheduleWords {
  readonly id: string;
  readonly name: string;
  readonly words: readonly string[];
}

/** Sets a schedule of a session. @throws AgentError SESSION_NOT_FOUND, INPUT_INVALID */
export async function setSchedule({ id, name, words }: ScheduleWords, flags: ScheduleFlags): Promise<number> {
  const { at, timeZone, every, cron, skipMissed, interrupt } = flags;
  const request = {
    input: words.join(" "),
    ...(at === undefined ? {} : { at }),
    ...(timeZone === undefined ? {} : { timeZone }),
    ...(every === undefined ? {} : { everyMs: durationMs(every) }),
    ...(cron === undefined ? {} : { cron }),
    ...(skipMissed ? { missed: "skip" as const } : {}),
    ...(interrupt ? { mode: "interrupt" as const } : {}),
  };
  return withShelf(flags, async (shelf) => {
    const schedule = await shelf.schedule(id, name, request);
    print(flags.json ? jsonLine(schedule) : scheduleLine(schedule));
    return exitCodes.ok;
  });
}

/** Removes a schedule of a session. @throws AgentError SESSION_NOT_FOUND, INPUT_INVALID */
export async function removeSchedule(id: string, name: string, flags: SessionFlags): Promise<number> {
  return withShelf(flags, async (shelf) => {
    const isRemoved = await shelf.unschedule(id, name);
    process.stderr.write(isRemoved ? `Removed ${oneLine(name, 64)}.\n` : `There is no schedule ${oneLine(name, 64)}.\n`);
    return isRemoved ? exitCodes.ok : exitCodes.failed;
  });
}

/** Prints the schedules of a session, the next one first. @throws AgentError SESSION_NOT_FOUND, INPUT_INVALID */
export async function listSchedules(id: string, flags: SessionFlags & { readonly history?: boolean }): Promise<number> {
  return withShelf(flags, async (shelf) => {
    if (flags.history) {
      const firings = await shelf.firings(id);
      for (const firing of firings) print(flags.json ? jsonLine(firing) : firingLine(firing));
      if (firings.length === 0 && !flags.json) process.stderr.write("No schedule of the session has fired yet.\n");
      return exitCodes.ok;
    }
    const schedules = await shelf.schedules(id);
    for (const schedule of schedules) print(flags.json ? jsonLine(schedule) : scheduleLine(schedule));
    if (schedules.length === 0 && !flags.json) process.stderr.write("The session has no schedules.\n");
    return exitCodes.ok;
  });
}

const firingLine = ({ name, due, at, status, runId }: ScheduleFiring): string =>
  [name, new Date(due).toISOString(), status, `${((at - due) / 1_000).toFixed(1)} s late`, runId ?? ""].join("  ").trimEnd();

function scheduleLine({ name, due, everyMs, cron, timeZone = "UTC", message }: SessionSchedule): string {
  const { content } = message;
  const text =
    typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join(" ");
  const interval = everyMs === undefined ? "once" : `every ${everyMs / 1_000} s`;
  const again = cron === undefined ? interval : `${oneLine(cron, 80)} ${timeZone}`;
  return `${name}  ${new Date(due).toISOString()}  ${again}  ${oneLine(text, 80)}`;
}

const unitMs: { readonly [unit: string]: number } = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** @throws AgentError INPUT_INVALID */
function durationMs(text: string): number {
  const [, count, unit = ""] = /^(\d{1,9})(s|m|h|d)$/.exec(text) ?? [];
  const ms = Number(count) * (unitMs[unit] ?? Number.NaN);
  if (Number.isSafeInteger(ms)) return ms;
  throw new AgentError("INPUT_INVALID", {
    message: `The duration \`${oneLine(text, 40)}\` cannot be read.`,
    fix: "Pass a whole number with its unit: 30s, 15m, 2h or 1d.",
  });
}
