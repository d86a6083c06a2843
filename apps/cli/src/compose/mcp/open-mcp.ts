import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { type Agent, AgentError } from "@loopwright/core";
import type { SecretStore } from "@loopwright/core/ports";
import type { McpSurvey, McpTools } from "@loopwright/tools-mcp";
import type { Environment } from "../../config/environment.ts";
import { holdsServers, type McpServers, parseMcpServers } from "../../config/mcp-servers.ts";
import type { Settings } from "../../settings/settings.ts";
import { oneLine } from "../../terminal/neutralise.ts";
import { companion } from "../companion.ts";
import { localScope } from "../kept-sessions.ts";

/** The MCP servers of a process. */
export interface OpenedMcp {
  /** The agent with the tools of the servers. */
  equip(agent: Agent): Agent;
  /** Asks each server what it offers. */
  survey(signal: AbortSignal): Promise<readonly McpSurvey[]>;
  /** Ends all connections and child processes. */
  close(): Promise<void>;
}

/** The servers that the settings name; `undefined` for none. Nothing is connected yet. @throws AgentError CONFIG_INVALID, also for a secret that is not set */
export async function openMcp({
  offered: { mcp },
  environment,
}: Pick<Settings, "offered" | "environment">): Promise<OpenedMcp | undefined> {
  if (mcp === undefined) return undefined;
  const servers = await serversOf(mcp);
  checkSecrets(servers, environment);
  const { mcpTools } = await companion("@loopwright/tools-mcp", () => import("@loopwright/tools-mcp"));
  const tools: McpTools = mcpTools({ servers, secrets: secretsOf(environment) });
  return {
    // Hooks behind it see the tools: one that takes all tools away takes these away too.
    equip: (agent) => Object.freeze({ ...agent, hooks: [tools.hooks, ...agent.hooks] }),
    survey: (signal) => tools.survey({ scope: localScope, user: localScope }, signal),
    close: () => tools.close(),
  };
}

async function serversOf(mcp: string): Promise<McpServers> {
  if (holdsServers(mcp)) return placed(await parseMcpServers(mcp, "mcp"), process.cwd());
  try {
    return placed(await parseMcpServers(await readFile(mcp, "utf8"), oneLine(mcp, 200)), dirname(mcp));
  } catch (cause) {
    if (!(cause instanceof Error && "syscall" in cause)) throw cause;
    throw new AgentError("CONFIG_INVALID", {
      message: `The MCP servers in \`${oneLine(mcp, 200)}\` cannot be read: ${"code" in cause ? String(cause.code) : "unknown error"}.`,
      fix: "Name a file that this user may read.",
      cause,
    });
  }
}

/** The servers with paths from this folder: a program or an argument that begins with `./` or `../`, and a working directory. */
function placed(servers: McpServers, folder: string): McpServers {
  const pathOf = (text: string): string => (/^\.\.?[\\/]/.test(text) ? resolve(folder, text) : text);
  const entries = Object.entries(servers).map(([name, server]) => {
    if (!("command" in server)) return [name, server] as const;
    const { command, args, directory } = server;
    const moved = { command: pathOf(command), directory: resolve(folder, directory ?? ".") };
    return [name, { ...server, ...moved, ...(args ? { args: args.map(pathOf) } : {}) }] as const;
  });
  return Object.fromEntries(entries);
}

/** @throws AgentError CONFIG_INVALID for a secret that is neither a variable nor kept */
function checkSecrets(servers: McpServers, environment: Environment): void {
  for (const [name, server] of Object.entries(servers)) {
    const values = Object.values(("command" in server ? server.env : server.headers) ?? {});
    const missing = values.find((value) => typeof value === "object" && !environment[value.secret]);
    if (typeof missing !== "object") continue;
    const secret = oneLine(missing.secret, 64);
    throw new AgentError("CONFIG_INVALID", {
      message: `The MCP server \`${oneLine(name, 40)}\` needs the secret \`${secret}\`, which is not set.`,
      fix: `Set the variable, or keep it with \`loopwright secrets set ${secret}\`.`,
    });
  }
}

/** The variables of the process and the secrets of files as a store that is only read: they are those of the operator, in every scope. */
function secretsOf(environment: Environment): SecretStore {
  const refuse = (): Promise<never> =>
    Promise.reject(new AgentError("STORE_READ_ONLY", { message: "Secrets of the process are not changed by it." }));
  return {
    get: async (_, name) => environment[name],
    set: refuse,
    remove: refuse,
    names: async () => [],
  };
}
