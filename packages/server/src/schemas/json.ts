import type { Json, JsonObject } from "@loopwright/core/protocol";
import { z } from "zod";

/** Any JSON value. Depth, keys and numbers are checked when the body is parsed. */
export const json: z.ZodType<Json> = z.custom<Json>((value) => value !== undefined, "Expected a JSON value");

/** Any JSON object. */
export const jsonObject: z.ZodType<JsonObject> = z.record(z.string(), json);

/** A read-only list. */
export function listOf<T>(item: z.ZodType<T>): z.ZodType<readonly T[]> {
  return z.array(item).readonly();
}
