import type { Agent } from "@loopwright/core";
import type { ToolSummary } from "../../schemas/index.ts";

/** The tools of an agent, with the fields that clients show. */
export function toolSummaries({ tools }: Agent): readonly ToolSummary[] {
  return tools.map(({ name, label, description, execute, visibility, counts }) => ({
    name,
    ...(label === undefined ? {} : { label }),
    description,
    home: execute && visibility !== "client" ? "server" : "client",
    ...(counts === false ? { counts: false as const } : {}),
  }));
}
