import type { ScheduleRequest as CoreRequest, ScheduleFiring, SessionSchedule, UserMessage } from "@loopwright/core/protocol";
import { scheduleLimits } from "@loopwright/core/protocol";
import { z } from "zod";
import { type InputOptions, outputForm, runOptions } from "./input.ts";
import { listOf } from "./json.ts";
import { userMessage } from "./message.ts";
import { exactly } from "./schema-of-type.ts";

/** Body of `PUT /api/sessions/:id/schedules/:name`. */
export interface ScheduleRequest extends Pick<CoreRequest, "at" | "timeZone" | "everyMs" | "cron" | "missed" | "mode"> {
  readonly input: string | UserMessage;
  readonly options?: InputOptions;
}

/** Answer of `GET /api/sessions/:id/schedules`. */
export interface ScheduleList {
  readonly schedules: readonly SessionSchedule[];
  /** Due times that have passed, the newest first. */
  readonly firings: readonly ScheduleFiring[];
}

const mode = z.enum(["enqueue", "interrupt"]);

export const scheduleRequest: z.ZodType<ScheduleRequest> = exactly<ScheduleRequest>()(
  z.object({
    input: z.union([z.string(), userMessage]),
    at: z.union([z.number(), z.string().max(40)]).exactOptional(),
    timeZone: z.string().max(64).exactOptional(),
    everyMs: z.number().exactOptional(),
    cron: z.string().max(scheduleLimits.cronCharacters).exactOptional(),
    missed: z.enum(["once", "skip"]).exactOptional(),
    mode: mode.exactOptional(),
    options: runOptions.exactOptional(),
  }),
);

export const sessionSchedule: z.ZodType<SessionSchedule> = exactly<SessionSchedule>()(
  z.object({
    name: z.string(),
    due: z.number(),
    everyMs: z.number().exactOptional(),
    cron: z.string().exactOptional(),
    timeZone: z.string().exactOptional(),
    missed: z.literal("skip").exactOptional(),
    message: userMessage,
    mode,
    model: z.string().exactOptional(),
    temperature: z.number().exactOptional(),
    maxTokens: z.number().exactOptional(),
    reasoningEffort: z.enum(["minimal", "low", "medium", "high"]).exactOptional(),
    systemPrompt: z.string().exactOptional(),
    output: outputForm.exactOptional(),
    labels: z.record(z.string(), z.string()).exactOptional(),
    user: z.string().exactOptional(),
  }),
);

const firing = z.object({
  name: z.string(),
  due: z.number(),
  at: z.number(),
  runId: z.string().exactOptional(),
  status: z.enum(["completed", "aborted", "failed", "waiting", "running", "skipped"]),
});

export const scheduleList: z.ZodType<ScheduleList> = exactly<ScheduleList>()(
  z.object({ schedules: listOf(sessionSchedule), firings: listOf(firing) }),
);

export const removedSchedule: z.ZodType<{ readonly removed: boolean }> = z.object({ removed: z.boolean() });
