import { AgentError } from "@loopwright/core";
import type { z } from "zod";
import { contextFlaw } from "./check-new-session-messages.ts";
import { deepestIssue } from "./deepest-schema-issue.ts";

/** The value that the schema returns. @throws AgentError INPUT_INVALID that names the field, with the text of core's error if core refuses the value */
export function validated<T>(schema: z.ZodType<T>, value: unknown, where: "body" | "query"): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { path, message, refusal = where === "body" ? contextFlaw(value) : undefined } = deepestIssue(result.error.issues);
  const field = pathText(path);
  const details = { field };
  const fix = "see `/openapi.json` for what the route takes.";
  if (refusal) {
    const place = field === "" ? "" : ` The field: \`${field}\`.`;
    throw new AgentError("INPUT_INVALID", { message: `${refusal.message}${place}`, fix: `${refusal.fix} Or ${fix}`, details });
  }
  const what = field === "" ? `The ${where}` : `\`${field}\` in the ${where}`;
  throw new AgentError("INPUT_INVALID", {
    message: `${what}: ${message}.`,
    fix: `Correct ${field === "" ? "it" : "the field"}; ${fix}`,
    details,
  });
}

const pathText = (path: readonly PropertyKey[]): string =>
  path.map((step, place) => (typeof step === "number" ? `[${step}]` : `${place === 0 ? "" : "."}${String(step).slice(0, 64)}`)).join("");
