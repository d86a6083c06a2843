import { defineTool, type Tool } from "@loopwright/core";
import { z } from "zod";

export interface NewUuidArguments {
  readonly count?: number | undefined;
}

const countMax = 100;
const parameters: z.ZodType<NewUuidArguments> = z.object({
  count: z.number().int().min(1).max(countMax).optional().describe(`How many, 1 (default) to ${countMax}.`),
});

/** The tool `new_uuid`: version 4, one per line. A second attempt gives others, which harms nothing: it is `idempotent`. */
export function newUuid(options: { readonly randomUuid: () => string }): Tool<NewUuidArguments> {
  return defineTool({
    name: "new_uuid",
    label: "UUID",
    description: "Makes new random UUIDs (version 4), one per line.",
    parameters,
    replay: "idempotent",
    execute: ({ count = 1 }) => Array.from({ length: count }, options.randomUuid).join("\n"),
  });
}
