import type { Agent } from "@loopwright/core";
import type { ToolSummary } from "../../schemas/index.ts";

/** The tools of an agent as people see them. */
export function toolSummaries({ tools }: Agent): readonly ToolSummary[] {
  return tools.map(({ name, label, description, execute, visibility }) => ({
    name,
    ...(label === undefined ? {} : { label }),
    description,
    home: execute && visibility !== "client" ? "server" : "client",
  }));
}
