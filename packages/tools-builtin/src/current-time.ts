import { defineTool, type Tool } from "@loopwright/core";
import type { Clock } from "@loopwright/core/ports";
import { z } from "zod";
import { badArguments } from "./bad-arguments.ts";

export interface CurrentTimeArguments {
  readonly timeZone?: string | undefined;
  readonly format?: "iso" | "long" | "unix" | undefined;
}

const parameters: z.ZodType<CurrentTimeArguments> = z.object({
  timeZone: z.string().max(64).optional().describe("IANA name, for example Europe/Berlin."),
  format: z
    .enum(["iso", "long", "unix"])
    .optional()
    .describe("iso (default): 2026-11-21T09:30:00+01:00; long: with weekday and names; unix: seconds since 1970."),
});

/** The tool `current_time`. Asking again gives the time of then, which harms nothing: it is `pure`. */
export function currentTime(options: { readonly clock: Pick<Clock, "now">; readonly timeZone: string }): Tool<CurrentTimeArguments> {
  return defineTool({
    name: "current_time",
    label: "Time",
    description: `Tells the current date and time, in ${options.timeZone} unless another time zone is asked for.`,
    parameters,
    replay: "pure",
    execute({ timeZone = options.timeZone, format = "iso" }) {
      const now = options.clock.now();
      if (format === "unix") return String(Math.floor(now / 1000));
      return format === "iso" ? isoIn(now, timeZone) : longIn(now, timeZone);
    },
  });
}

function longIn(now: number, timeZone: string): string {
  return formatter(timeZone, { dateStyle: "full", timeStyle: "long" }).format(now);
}

/** ISO 8601 with the offset of the zone at that moment; some engines write the offset of UTC as nothing. */
function isoIn(now: number, timeZone: string): string {
  const fields = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit" } as const;
  const format = formatter(timeZone, { ...fields, hourCycle: "h23", timeZoneName: "longOffset" });
  const part = Object.fromEntries(format.formatToParts(now).map(({ type, value }) => [type, value]));
  const offset = (part["timeZoneName"] ?? "").replace("GMT", "") || "+00:00";
  return `${part["year"]}-${part["month"]}-${part["day"]}T${part["hour"]}:${part["minute"]}:${part["second"]}${offset}`;
}

function formatter(timeZone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat("en-GB", { ...options, timeZone });
  } catch {
    throw badArguments(`There is no time zone ${JSON.stringify(timeZone)}.`, "Use an IANA name such as Europe/Berlin or UTC.");
  }
}
