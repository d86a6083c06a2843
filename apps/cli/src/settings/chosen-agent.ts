import { AgentError } from "@loopwright/core";
import { oneLine } from "../terminal/neutralise.ts";
import type { Environment } from "./environment.ts";

/** The agents of the command line. */
export const agentNames = ["assistant", "research"] as const;
export type AgentName = (typeof agentNames)[number];

/**
 * The agent that answers and the web that it searches: flags, then LOOPWRIGHT_AGENT and LOOPWRIGHT_WEB.
 * @throws AgentError CONFIG_INVALID for an agent that does not exist, or one that has no web to search
 */
export function chosenAgent(
  flags: { readonly agent?: string; readonly web?: string },
  environment: Environment,
): { readonly agentName: AgentName; readonly webUrl: string | undefined } {
  const webUrl = flags.web ?? environment["LOOPWRIGHT_WEB"];
  if (webUrl !== undefined && !(/^https?:\/\//i.test(webUrl) && URL.canParse(webUrl)))
    throw new AgentError("CONFIG_INVALID", {
      message: `\`${oneLine(webUrl, 80)}\` is no http or https address.`,
      fix: "Pass the address of a SearXNG with `--web`, such as `http://localhost:8888`.",
    });
  const typed = flags.agent ?? environment["LOOPWRIGHT_AGENT"] ?? "assistant";
  const agentName = agentNames.find((name) => name === typed);
  if (agentName === undefined)
    throw new AgentError("CONFIG_INVALID", {
      message: `There is no agent \`${oneLine(typed, 40)}\`.`,
      fix: `Pass one of these with \`--agent\`: ${agentNames.join(", ")}.`,
    });
  if (agentName === "research" && webUrl === undefined)
    throw new AgentError("CONFIG_INVALID", {
      message: "The agent `research` has no web to search.",
      fix: "Pass the address of a SearXNG with `--web`, or set LOOPWRIGHT_WEB.",
    });
  return { agentName, webUrl };
}

/** What a command needs to reach the same agent again, with a space before it; empty for the assistant. */
export function agentFlags({ agentName, webUrl }: { readonly agentName: AgentName; readonly webUrl: string | undefined }): string {
  return agentName === "assistant" ? "" : ` --agent ${agentName}${webUrl === undefined ? "" : ` --web ${webUrl}`}`;
}
