/*
 * Owns: the servers of an agent: which tools each model call is shown, and the connections of each run. Does not own: one connection (server-link), one
 * tool (offered-tool), one call (run-call).
 *
 * I1 A server that is down fails no run: its tools are missing with a notice, or their calls are errors. I2 A tool of a server never takes the place of
 * another tool. I3 A tool that has changed within a session is not shown again, unless the server's settings take changes. I4 Connections end with their run.
 */
import { AgentError, type Hooks, type JsonObject, type PrepareContext, type PrepareVerdict, type Tool } from "@loopwright/core";
import { systemClock } from "@loopwright/core/memory";
import type { Clock, SecretStore } from "@loopwright/core/ports";
import type { ResolveHost } from "@loopwright/url-guard";
import { defaultMcpLimits, type McpLimits } from "./mcp-limits.ts";
import { checkServer, type McpPlace, type McpServer } from "./mcp-server.ts";
import { type OfferedTool, offeredName, offeredTool } from "./offered-tool.ts";
import { toolOf } from "./run-call.ts";
import { ServerLink } from "./server-link.ts";
import { Redaction } from "./server-text.ts";
import { finishSignIn } from "./sign-in.ts";

export interface McpToolsOptions {
  /** By name, which begins the names of their tools: `<server>__<tool>`. */
  readonly servers: Readonly<Record<string, McpServer>>;
  /** Where headers and variables of the form `{ secret }` come from, by the scope of the run. */
  readonly secrets?: SecretStore;
  readonly limits?: Partial<McpLimits>;
  /** The look-up of names. Default: that of the operating system. */
  readonly resolve?: ResolveHost;
  /** Default: the real time. */
  readonly clock?: Pick<Clock, "monotonic" | "after">;
}

/** What a server offers now. */
export interface McpSurvey {
  readonly server: string;
  readonly tools: readonly OfferedTool[];
  /** Why there are none. */
  readonly error?: AgentError;
}

/** MCP servers of an agent. */
export interface McpTools {
  /** One of the `hooks` of the agent: it shows each model call the tools of the servers beside the others. Sets behind it see them. */
  readonly hooks: Hooks;
  /** Asks each server what it offers to a user, for a person to read before an agent gets it. */
  survey(place: McpPlace, signal?: AbortSignal): Promise<readonly McpSurvey[]>;
  /**
   * Ends a sign-in with the parameters that the browser came back with. @throws AgentError INPUT_INVALID when they do not fit the sign-in that began, or
   * when the server refuses them
   */
  signIn(server: string, place: McpPlace, answer: URLSearchParams): Promise<void>;
  /** Ends all connections and their child processes. */
  close(): Promise<void>;
}

/** Runs whose links are kept; those beyond them end by being idle. */
const runsMax = 1_000;
/** Lists of tools that are kept for servers that are down later. */
const listedMax = 256;

/** The links of one run, by server. */
type Links = ReadonlyMap<string, ServerLink>;

/**
 * MCP servers as tools of an agent. @throws AgentError CONFIG_INVALID for a server that could not be used, or would be used unsafely
 * @example const mcp = mcpTools({ servers: { files: { command: "/usr/bin/files-mcp" } } }); createAgent({ ..., hooks: [mcp.hooks] })
 */
export function mcpTools(options: McpToolsOptions): McpTools {
  for (const [name, server] of Object.entries(options.servers)) checkServer(name, server);
  const limits: McpLimits = { ...defaultMcpLimits, ...options.limits };
  const runs = new Map<string, Links>();
  const listed = new Map<string, readonly OfferedTool[]>();
  let open = 0;
  const linksOf = ({ scope, user }: McpPlace): Links =>
    new Map(
      Object.entries(options.servers).map(([name, server]) => {
        const { clock = systemClock, secrets, resolve } = options;
        const link = new ServerLink({
          ...{ name, server, place: { scope, user }, secrets, limits, resolve, clock, redaction: new Redaction() },
          take: () => open < limits.connectionsMax && ++open > 0,
          give: () => void open--,
        });
        return [name, link];
      }),
    );
  const endOf = async (links: Links): Promise<void> => void (await Promise.all([...links.values()].map((link) => link.close())));
  return {
    hooks: {
      name: "mcp",
      prepare(context) {
        let links = runs.get(context.runId);
        if (!links) {
          links = linksOf(context.access);
          runs.set(context.runId, links);
          const [oldest] = runs.keys();
          // A run that another process took over does not end here; its idle connections are closed by themselves.
          if (runs.size > runsMax && oldest !== undefined) runs.delete(oldest);
        }
        return shownTo(context, { servers: options.servers, links, limits, listed });
      },
      run: {
        async end({ runId }) {
          await endOf(runs.get(runId) ?? new Map());
          runs.delete(runId);
        },
      },
    },
    async survey(place, signal = new AbortController().signal) {
      const links = linksOf(place);
      try {
        return await Promise.all([...links].map(([name, link]) => askServer({ name, link, limits, signal })));
      } finally {
        await endOf(links);
      }
    },
    signIn: (name, place, answer) => finishSignIn({ ...options, limits, redaction: new Redaction() }, { name, place, answer }),
    async close() {
      await Promise.all([...runs.values()].map(endOf));
      runs.clear();
    },
  };
}

interface Asked {
  readonly name: string;
  readonly link: ServerLink;
  readonly limits: McpLimits;
  readonly signal: AbortSignal;
  /** Called for a tool that is not offered. */
  leftOut?(tool: string, why: string): void;
}

async function askServer({ name, link, limits, signal, leftOut }: Asked): Promise<McpSurvey> {
  try {
    const listed = await link.tools(signal);
    const tools = listed.flatMap((tool) => {
      const offered = offeredTool(name, tool, limits);
      if (typeof offered !== "string") return [offered];
      leftOut?.(offeredName(name, tool.name), offered);
      return [];
    });
    return { server: name, tools };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof AgentError)) throw error;
    return { server: name, tools: [], error };
  }
}

interface Shown {
  readonly servers: Readonly<Record<string, McpServer>>;
  readonly links: Links;
  readonly limits: McpLimits;
  /** The tools that a server listed the last time, by server, scope and user. */
  readonly listed: Map<string, readonly OfferedTool[]>;
}

/** The survey, with the tools of the last one where the server is down: calls of them are errors that name the server. */
function withListed(survey: McpSurvey, { scope, user }: McpPlace, listed: Shown["listed"]): McpSurvey {
  const key = [survey.server, scope, user].join("\n");
  const known = listed.get(key);
  if (survey.error) return known ? { server: survey.server, tools: known } : survey;
  listed.delete(key);
  listed.set(key, survey.tools);
  const [oldest] = listed.keys();
  if (listed.size > listedMax && oldest !== undefined) listed.delete(oldest);
  return survey;
}

async function shownTo(context: PrepareContext, { servers, links, limits, listed }: Shown): Promise<PrepareVerdict> {
  const { signal, logger, state, access } = context;
  const leftOut = (tool: string, why: string): void =>
    context.note("tool_left_out", `The tool ${tool} of an MCP server is left out: ${why}.`);
  const asked = await Promise.all([...links].map(([name, link]) => askServer({ name, link, limits, signal, leftOut })));
  const surveys = asked.map((survey) => withListed(survey, access, listed));
  const seen = (state["session"] ?? {}) as Readonly<Record<string, string>>;
  const digests: Record<string, string> = { ...seen };
  const taken = new Set(context.tools.map(({ name }) => name));
  const added: Tool[] = [];
  for (const offered of surveys.flatMap(({ tools }) => tools)) {
    const server = servers[offered.server] as McpServer;
    const why = whyHidden(offered, { server, seen, isTaken: taken.has(offered.name), isFull: added.length >= limits.toolsMax });
    if (why === "not chosen") continue;
    if (why !== undefined) {
      leftOut(offered.name, why);
      continue;
    }
    taken.add(offered.name);
    digests[offered.name] = offered.digest;
    added.push(toolOf(offered, server, links.get(offered.server) as ServerLink) as Tool);
  }
  const down = surveys.flatMap(({ server, error }) => (error ? [{ server, error }] : []));
  const noticed = (state["down"] ?? []) as readonly string[];
  const fresh = down.filter(({ server }) => !noticed.includes(server));
  for (const { server, error } of fresh) logger.log("warn", `mcp: ${error.message}`, { server });
  return {
    tools: [...context.tools, ...added],
    notices: fresh.map(({ error }) => `${error.message} Its tools are not available now.`),
    state: {
      ...(isSame(seen, digests) ? {} : { session: digests }),
      ...(fresh.length > 0 ? { down: down.map(({ server }) => server) } : {}),
    },
  };
}

interface Offer {
  readonly server: McpServer;
  readonly seen: Readonly<Record<string, string>>;
  readonly isTaken: boolean;
  readonly isFull: boolean;
}

function whyHidden({ original, name, digest }: OfferedTool, { server, seen, isTaken, isFull }: Offer): string | undefined {
  const { tools, pins, onChange = "hide" } = server;
  if (tools && !tools.includes(original)) return "not chosen";
  if (isTaken) return "another tool has its name";
  if (pins && !Object.hasOwn(pins, original)) return "it is not among the pinned tools of its server";
  if (pins && pins[original] !== digest) return `its description or schema is not the pinned one (it has the digest ${digest})`;
  const before = Object.hasOwn(seen, name) ? seen[name] : undefined;
  if (onChange === "hide" && before !== undefined && before !== digest)
    return `its description or schema has changed in this session (from the digest ${before} to ${digest})`;
  return isFull ? "there are too many tools" : undefined;
}

const isSame = (one: Readonly<Record<string, string>>, other: JsonObject): boolean =>
  Object.keys(one).length === Object.keys(other).length && Object.keys(one).every((name) => one[name] === other[name]);
