import { AgentError } from "@loopwright/core";
import { oneLine } from "../terminal/neutralise.ts";

/** The agents of the command line. */
export const agentNames = ["assistant", "main-thread", "research", "researcher"] as const;
export type AgentName = (typeof agentNames)[number];

/** Those that have nothing to do without a web. */
const onTheWeb: readonly string[] = ["research", "researcher"] satisfies readonly AgentName[];

/** Which agent answers, and where the agents come from. */
export interface AgentChoice {
  /** One of `agentNames`, or of the user's own module. */
  readonly agentName: string;
  /** Module with agents of the user's own. */
  readonly agentsFile: string | undefined;
  /** A SearXNG that agents search. */
  readonly webUrl: string | undefined;
}

/** Options that choose an agent. */
export interface AgentFlags {
  readonly agent?: string;
  readonly agents?: string;
  readonly web?: string;
}

/**
 * The agent that answers and the web that it searches.
 * @throws AgentError CONFIG_INVALID for an agent that does not exist, or one that has no web to search
 */
export function chosenAgent({ web: webUrl, agents: agentsFile, agent: agentName = "assistant" }: AgentFlags): AgentChoice {
  if (webUrl !== undefined && !(/^https?:\/\//i.test(webUrl) && URL.canParse(webUrl)))
    throw new AgentError("CONFIG_INVALID", {
      message: `\`${oneLine(webUrl, 80)}\` is no http or https address.`,
      fix: "Pass the address of a SearXNG with `--web`, such as `http://localhost:8888`.",
    });
  // The agents of a module are known once it is loaded.
  if (agentsFile === undefined && !agentNames.some((name) => name === agentName)) throw noAgent(agentName, agentNames);
  if (agentsFile === undefined && onTheWeb.includes(agentName) && webUrl === undefined) throw noWeb(agentName);
  return { agentName, agentsFile, webUrl };
}

/** The error of a name that is none of `names`. */
export function noAgent(typed: string, names: readonly string[]): AgentError {
  if (onTheWeb.includes(typed) && !names.includes(typed)) return noWeb(typed);
  return new AgentError("CONFIG_INVALID", {
    message: `There is no agent \`${oneLine(typed, 40)}\`.`,
    fix: `Pass one of these with \`--agent\`: ${names.map((name) => oneLine(name, 64)).join(", ")}.`,
  });
}

const noWeb = (agentName: string): AgentError =>
  new AgentError("CONFIG_INVALID", {
    message: `The agent \`${agentName}\` has no web to search.`,
    fix: "Pass the address of a SearXNG with `--web`, or set LOOPWRIGHT_WEB.",
  });

/** What a command needs to reach the same agent again, with a space before it; empty for the assistant. */
export function agentFlags({ agentName, agentsFile, webUrl }: AgentChoice): string {
  if (agentName === "assistant") return "";
  const flags = [
    ["agent", agentName],
    ["agents", agentsFile],
    ["web", webUrl],
  ] as const;
  return flags.map(([name, value]) => (value === undefined ? "" : ` --${name} ${quoted(value)}`)).join("");
}

/** As a shell reads it. */
const quoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
