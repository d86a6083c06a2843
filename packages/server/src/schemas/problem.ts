import type { Problem } from "@loopwright/core/protocol";
import { z } from "zod";
import { jsonObject } from "./json.ts";
import { exactly } from "./schema-of-type.ts";

/** An error as a problem document. */
export const problem: z.ZodType<Problem> = exactly<Problem>()(
  z.object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.string(),
    detail: z.string(),
    fix: z.string(),
    docs: z.string(),
    runId: z.string().exactOptional(),
    retryable: z.boolean(),
    retryAfterMs: z.number().exactOptional(),
    details: jsonObject.exactOptional(),
    error: z.string(),
  }),
);
