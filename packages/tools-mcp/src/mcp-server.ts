import { isAbsolute } from "node:path";
import { AgentError, type ReplayClass } from "@loopwright/core";
import type { UrlPolicy } from "@loopwright/url-guard";
import type { OAuthClientProvider } from "@modelcontextprotocol/client";

/** A text, or the name of a secret in the scope of the run that uses it. */
export type McpValue = string | { readonly secret: string };

/** The user that a server is asked for. */
export interface McpPlace {
  readonly scope: string;
  readonly user: string;
}

interface ServerRules {
  /** Milliseconds for one call. Default 120,000. */
  readonly timeoutMs?: number;
  /** What may happen to a call that a crash interrupted. Default `once`: it is not repeated. */
  readonly replay?: ReplayClass;
  /**
   * Whether a person must allow each call. `hints`: unless the server declares the tool as read-only, which is the word of the server alone.
   * Default false.
   */
  readonly approval?: boolean | "hints";
  /** Names of the server's own tools that are offered. Default: all. */
  readonly tools?: readonly string[];
  /** Digests of tools by their own names, as `survey` lists them: only tools with these names and digests are offered. */
  readonly pins?: Readonly<Record<string, string>>;
  /** A tool whose description or schema changes within a session: `hide` (default) offers it no more in that session, `take` takes the change. */
  readonly onChange?: "hide" | "take";
}

/** A server over streamable HTTP. */
export interface McpHttpServer extends ServerRules {
  readonly url: string;
  readonly headers?: Readonly<Record<string, McpValue>>;
  /** Which addresses the server and its sign-in may have. Default: the public web alone. */
  readonly policy?: UrlPolicy;
  /** Signs in where the server asks for it: `oauthInSecrets`, or a provider of the SDK. Called once for each connection. */
  readonly auth?: { open(place: McpPlace): OAuthClientProvider }["open"];
}

/** A server that runs as a child process. */
export interface McpStdioServer extends ServerRules {
  /** A program by its absolute path or its bare name; no shell reads it. */
  readonly command: string;
  readonly args?: readonly string[];
  /** Its variables beside `PATH`, `HOME` and `LANG`: it inherits nothing else. */
  readonly env?: Readonly<Record<string, McpValue>>;
  /** Its working directory. Default: that of this process. */
  readonly directory?: string;
  /** True: a runner of packages such as `npx` may fetch a package without an exact version. Default false. */
  readonly unpinned?: boolean;
  /** Where its standard error goes. Default `ignore`: it may hold secrets. */
  readonly stderr?: "ignore" | "inherit";
}

export type McpServer = McpHttpServer | McpStdioServer;

/** True for a server that runs as a child process. */
export const isStdio = (server: McpServer): server is McpStdioServer => "command" in server;

const runners: Readonly<Record<string, RegExp>> = {
  npx: /^(?:@[^@/]+\/)?[^@/]+@\d+\.\d+\.\d+[\w.+-]*$/,
  pnpx: /^(?:@[^@/]+\/)?[^@/]+@\d+\.\d+\.\d+[\w.+-]*$/,
  bunx: /^(?:@[^@/]+\/)?[^@/]+@\d+\.\d+\.\d+[\w.+-]*$/,
  uvx: /^[\w.-]+(?:==|@)\d+(?:\.\d+)+[\w.+-]*$/,
};

/** @throws AgentError CONFIG_INVALID for a server that could never be used, or would be used unsafely */
export function checkServer(name: string, server: McpServer): void {
  const invalid = (what: string, fix: string): AgentError =>
    new AgentError("CONFIG_INVALID", {
      message: `The MCP server \`${name.slice(0, 64)}\` ${what}.`,
      fix,
      details: { server: name.slice(0, 64) },
    });
  if (!/^[a-zA-Z0-9-]{1,24}$/.test(name)) throw invalid("has a name that cannot be used", "Use 1 to 24 letters, digits and `-`.");
  if (typeof server !== "object" || server === null || "url" in server === "command" in server)
    throw invalid("has not exactly one of `url` and `command`", "Give the URL of a server, or the program that is one.");
  if (!isStdio(server)) {
    if (!/^https?:$/.test(URL.parse(server.url)?.protocol ?? ""))
      throw invalid("has no usable URL", "Give a complete URL with http or https.");
    return;
  }
  const { command, args = [], unpinned = false } = server;
  if (!isAbsolute(command) && !/^[\w.+-]+$/.test(command))
    throw invalid("has a command that is neither a bare name nor an absolute path", "Give the program alone, and its arguments in `args`.");
  const rule = runners[command.replace(/^.*[\\/]/, "").replace(/\.(?:cmd|exe)$/, "")];
  const fetched = args.find((arg) => !arg.startsWith("-"));
  if (rule && !unpinned && !rule.test(fetched ?? ""))
    throw invalid(
      "fetches a package without an exact version",
      "Name the version, such as `package@1.2.3`, as the first argument that is no flag, or set `unpinned: true`.",
    );
}
