import { z } from "zod";
import type { SessionParams } from "../session-params.ts";

export interface ScheduleParams extends SessionParams {
  readonly name: string;
}

export const scheduleParams: z.ZodType<ScheduleParams> = z.object({ id: z.string(), name: z.string() });
