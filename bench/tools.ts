import type { JsonObject } from "@loopwright/core";
import type { BenchTool } from "./contenders/contender.ts";
import { lookupResult } from "./server/script.ts";

/** What the tools of one conversation saw. */
export interface ToolRecord {
  calls: number;
  /** Calls under way at once, at most. */
  busiest: number;
  content: string;
}

export const emptyRecord = (): ToolRecord => ({ calls: 0, busiest: 0, content: "" });

/** How long one call of `wait` takes. */
const waitMs = 20;

const object = (properties: JsonObject): BenchTool["parameters"] => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

/** The tools of the workloads; they write down what they are asked. */
export function benchTools(record: () => ToolRecord): readonly BenchTool[] {
  let busy = 0;
  return [
    {
      name: "lookup",
      description: "Says what is known of an item of the store house.",
      parameters: object({ item: { type: "integer" }, question: { type: "string" } }),
      execute({ item }) {
        record().calls++;
        return lookupResult(Number(item));
      },
    },
    {
      name: "write_file",
      description: "Writes a text file.",
      parameters: object({ path: { type: "string" }, content: { type: "string" } }),
      execute({ content }) {
        record().calls++;
        record().content = String(content);
        return `Written: ${String(content).length} characters.`;
      },
    },
    {
      name: "wait",
      description: "Waits for a moment.",
      parameters: object({ item: { type: "integer" } }),
      async execute({ item }) {
        const seen = record();
        seen.calls++;
        seen.busiest = Math.max(seen.busiest, ++busy);
        await new Promise((resolve) => setTimeout(resolve, waitMs));
        busy--;
        return `Waited for item ${Number(item)}.`;
      },
    },
  ];
}
