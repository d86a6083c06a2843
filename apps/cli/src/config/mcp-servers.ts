/*
 * Owns: how MCP servers are written: below `mcp` of `loopwright.yaml`, or in a file of their own, also in that of other hosts (`mcpServers`).
 * Does not own: whether one may be used (tools-mcp), where its secrets are (open-mcp).
 */
import { AgentError, refuseUnknownOptions } from "@loopwright/core";
import type { McpServer, McpValue } from "@loopwright/tools-mcp";
import { oneLine } from "../terminal/neutralise.ts";
import { type Content, isRecord, readYaml } from "./yaml-content.ts";

/** MCP servers by their names. */
export type McpServers = Readonly<Record<string, McpServer>>;

/** What an entry may have. */
const known = {
  url: true,
  headers: true,
  private: true,
  command: true,
  args: true,
  env: true,
  directory: true,
  unpinned: true,
  tools: true,
  approval: true,
  replay: true,
  timeout_ms: true,
  pins: true,
  on_change: true,
} as const;

const [httpAlone, stdioAlone] = [
  ["headers", "private"],
  ["args", "env", "directory", "unpinned"],
] as const;

/** Of one configuration. */
const serversMax = 64;
/** Milliseconds: a day. */
const timeoutMsMax = 86_400_000;

/** Header fields and variables that hold secrets. */
const secretName = /auth|token|secret|key|cookie|passw|credential/i;

/** Flags and parameters of an address that hold secrets. `--token-file` and `--auth-url` hold none. */
const secretFlag = /(?:^|[-_])(?:token|secret|passw(?:or)?d|api-?key|key|credentials?|authorization)$/i;

/** The value of `mcp`: a path, or the servers themselves, as one text. @throws AgentError CONFIG_INVALID */
export function mcpServersOfFile(value: unknown, source: string): string {
  if (typeof value === "string" && value.trim() !== "") return value;
  if (!isRecord(value)) throw wrong(`${source} is no group of servers.`, "Write each below its name, or the path of a file with them.");
  readServers(value, source);
  return JSON.stringify(value);
}

/** True for a value that holds the servers, and is no path. */
export const holdsServers = (value: string): boolean => value.trimStart().startsWith("{");

/** The servers of a text; `name` is that of its file, for people. @throws AgentError CONFIG_INVALID */
export async function parseMcpServers(text: string, name: string): Promise<McpServers> {
  const { content } = await readYaml(text, name);
  const [first, ...others] = Object.keys(content);
  const inner = others.length === 0 && (first === "mcp" || first === "mcpServers") ? content[first] : content;
  if (!isRecord(inner)) throw wrong(`\`${name}\` holds no MCP servers.`, "Write each below its name: `url: ...`, or `command: ...`.");
  return readServers(inner, `\`${name}\``);
}

function readServers(content: Content, source: string): McpServers {
  const entries = Object.entries(content);
  if (entries.length > serversMax)
    throw wrong(`${source} has ${entries.length} MCP servers, and at most ${serversMax} are taken.`, "Leave some out.");
  return Object.fromEntries(
    entries.map(([name, value]) => [name, readServer(value, `the MCP server \`${oneLine(name, 40)}\` of ${source}`)]),
  );
}

function readServer(value: unknown, place: string): McpServer {
  const shown = `${place[0]?.toUpperCase()}${place.slice(1)}`;
  if (!isRecord(value)) throw wrong(`${shown} is no group of settings.`, "Write `url: ...` or `command: ...` below its name.");
  refuseUnknownOptions(value as { readonly [Name in keyof typeof known]?: unknown }, known, place);
  const { url, command } = value;
  if ((url === undefined) === (command === undefined))
    throw wrong(`${shown} has not exactly one of \`url\` and \`command\`.`, "Write the address of a server, or the program that is one.");
  const other = (url === undefined ? httpAlone : stdioAlone).find((name) => value[name] !== undefined);
  if (other !== undefined)
    throw wrong(`${shown} has \`${other}\`, which one with \`${url === undefined ? "command" : "url"}\` does not take.`, "Leave it out.");
  const read = new Fields(value, shown);
  const rules = {
    approval: read.choice("approval", [true, false, "hints"] as const) ?? ("hints" as const),
    ...read.given("replay", () => read.choice("replay", ["once", "idempotent", "pure"] as const)),
    ...read.given("timeoutMs", () => read.count("timeout_ms", timeoutMsMax)),
    ...read.given("tools", () => read.texts("tools")),
    ...read.given("pins", () => read.plainTexts("pins")),
    ...read.given("onChange", () => read.choice("on_change", ["hide", "take"] as const)),
  };
  if (url === undefined)
    return {
      ...{ command: read.text("command"), ...rules },
      ...read.given("args", () => read.programArguments()),
      ...read.given("env", () => read.values("env")),
      ...read.given("directory", () => (value["directory"] === undefined ? undefined : read.text("directory"))),
      ...read.given("unpinned", () => read.choice("unpinned", [true, false] as const)),
    };
  const address = read.address();
  const isPrivate = read.choice("private", [true, false] as const) === true;
  const origin = URL.canParse(address) ? new URL(address).origin : undefined;
  return {
    ...{ url: address, ...rules },
    ...read.given("headers", () => read.values("headers")),
    ...(isPrivate && origin !== undefined ? { policy: { privateOrigins: [origin] } } : {}),
  };
}

/** The members of an entry, each in its type. */
class Fields {
  readonly #value: Content;
  readonly #shown: string;

  constructor(value: Content, shown: string) {
    this.#value = value;
    this.#shown = shown;
  }

  /** The member under this name, if it is there. */
  given<Name extends string, Value>(name: Name, read: () => Value | undefined): { readonly [Each in Name]?: Value } {
    const value = read();
    return (value === undefined ? {} : { [name]: value }) as { readonly [Each in Name]?: Value };
  }

  text(name: string): string {
    const value = this.#value[name];
    if (typeof value === "string" && value.trim() !== "") return value;
    throw this.#wrong(name, "is no text", "Write a text, in quotes where it looks like a number.");
  }

  choice<const Value extends string | boolean>(name: string, values: readonly Value[]): Value | undefined {
    const value = this.#value[name];
    if (value === undefined || value === null) return undefined;
    const found = values.find((one) => one === value);
    if (found === undefined) throw this.#wrong(name, "has none of its values", `Write one of these: ${values.join(", ")}.`);
    return found;
  }

  count(name: string, max: number): number | undefined {
    const value = this.#value[name];
    if (value === undefined || value === null) return undefined;
    if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= max) return value;
    throw this.#wrong(name, "is no such number", `Write a whole number from 1 to ${max}.`);
  }

  texts(name: string): readonly string[] | undefined {
    const value = this.#value[name];
    if (value === undefined || value === null) return undefined;
    if (Array.isArray(value) && value.every((one) => typeof one === "string" || typeof one === "number")) return value.map(String);
    throw this.#wrong(name, "is no list of texts", "Write a list: `[one, two]`.");
  }

  /** The arguments of a program. All processes of the machine can read them, so they hold no secret. */
  programArguments(): readonly string[] | undefined {
    const given = this.texts("args");
    const secret = given?.find((one, at) => {
      const [flag = "", value = given[at + 1]] = one.split(/=(.*)/s, 2);
      return /^--?[\w-]+$/.test(flag) && secretFlag.test(flag) && value !== undefined && !value.startsWith("-");
    });
    if (secret === undefined) return given;
    throw this.#wrong(
      "args",
      `gives a secret to \`${oneLine(secret.split("=", 1)[0] ?? "", 40)}\`, which every process of the machine can read`,
      "Write it below `env` as `{ secret: NAME }`, if the program reads a variable.",
    );
  }

  /** An address without a secret in it: it stands in messages and logs. */
  address(): string {
    const text = this.text("url");
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const hasSecret =
      url && (url.username !== "" || url.password !== "" || [...url.searchParams.keys()].some((key) => secretFlag.test(key)));
    if (!hasSecret) return text;
    throw this.#wrong("url", "has a secret in it, which messages and logs would show", "Write it below `headers` as `{ secret: NAME }`.");
  }

  plainTexts(name: string): Readonly<Record<string, string>> | undefined {
    const value = this.#value[name];
    if (value === undefined || value === null) return undefined;
    if (isRecord(value) && Object.values(value).every((one) => typeof one === "string")) return value as Readonly<Record<string, string>>;
    throw this.#wrong(name, "is no group of texts", "Write `name: text` below it.");
  }

  /** Texts and names of secrets. */
  values(name: string): Readonly<Record<string, McpValue>> | undefined {
    const value = this.#value[name];
    if (value === undefined || value === null) return undefined;
    if (!isRecord(value)) throw this.#wrong(name, "is no group of values", "Write `name: text` or `name: { secret: NAME }` below it.");
    return Object.fromEntries(Object.entries(value).map(([each, given]) => [each, this.#valueOf(`${name}.${oneLine(each, 40)}`, given)]));
  }

  #valueOf(name: string, given: unknown): McpValue {
    if (isRecord(given)) {
      const { secret } = given;
      if (typeof secret === "string" && secret !== "" && Object.keys(given).length === 1) return { secret };
      throw this.#wrong(name, "names no secret", "Write `{ secret: NAME }`.");
    }
    if (typeof given !== "string" && typeof given !== "number" && typeof given !== "boolean")
      throw this.#wrong(name, "is no text", "Write a text or `{ secret: NAME }`.");
    if (secretName.test(name.slice(name.indexOf(".") + 1)))
      throw this.#wrong(
        name,
        "is a secret, and the file takes none",
        "Write `{ secret: NAME }`, and set the variable NAME, or keep it with `loopwright secrets set NAME`.",
      );
    return String(given);
  }

  #wrong(name: string, what: string, fix: string): AgentError {
    return wrong(`${this.#shown} has a \`${name}\` that ${what}.`, fix);
  }
}

const wrong = (message: string, fix: string): AgentError => new AgentError("CONFIG_INVALID", { message, fix });
