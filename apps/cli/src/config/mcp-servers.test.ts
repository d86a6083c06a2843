import { isAgentError } from "@loopwright/core";
import { describe, expect, test } from "vitest";
import { parseConfigFile } from "./config-file.ts";
import { parseMcpServers } from "./mcp-servers.ts";
import { optionNamed } from "./options.ts";
import { shownValue } from "./read-value.ts";

async function refusal(text: string): Promise<string> {
  const error: unknown = await parseMcpServers(text, "servers.yaml").catch((reason: unknown) => reason);
  return isAgentError(error, "CONFIG_INVALID") ? `${error.message} ${error.fix}` : `no refusal: ${JSON.stringify(error)}`;
}

describe("MCP servers in a file", () => {
  test("are those with a program or an address, with what the library takes, and calls are approved unless a server declares them read-only", async () => {
    const text = `
weather:
  command: node
  args: [./weather.mjs, 1]
  env: { WEATHER_KEY: { secret: WEATHER_KEY }, REGION: north }
  timeout_ms: 5000
  tools: [forecast]
  pins: { forecast: abc }
  on_change: take
  replay: idempotent
calendar:
  url: http://127.0.0.1:8080/mcp
  private: true
  headers: { authorization: { secret: CALENDAR } }
  approval: false
`;
    expect(await parseMcpServers(text, "servers.yaml")).toEqual({
      weather: {
        command: "node",
        args: ["./weather.mjs", "1"],
        env: { WEATHER_KEY: { secret: "WEATHER_KEY" }, REGION: "north" },
        approval: "hints",
        timeoutMs: 5_000,
        tools: ["forecast"],
        pins: { forecast: "abc" },
        onChange: "take",
        replay: "idempotent",
      },
      calendar: {
        url: "http://127.0.0.1:8080/mcp",
        policy: { privateOrigins: ["http://127.0.0.1:8080"] },
        headers: { authorization: { secret: "CALENDAR" } },
        approval: false,
      },
    });
  });

  test.each(["mcp", "mcpServers"])("may stand below `%s`, as JSON too", async (name) => {
    const text = JSON.stringify({ [name]: { files: { command: "files-mcp", args: ["/data"] } } });
    expect(await parseMcpServers(text, "servers.json")).toEqual({ files: { command: "files-mcp", args: ["/data"], approval: "hints" } });
  });

  test.each([
    ["a member that is misspelt", "files: { comand: node }", "Did you mean `command`?"],
    ["neither a program nor an address", "files: { args: [x] }", "exactly one of `url` and `command`"],
    ["both", "files: { command: node, url: https://a.example }", "exactly one of `url` and `command`"],
    ["a member of the other kind", "files: { url: https://a.example, args: [x] }", "has `args`, which one with `url` does not take"],
    ["headers of a program", "files: { command: node, headers: { a: b } }", "has `headers`, which one with `command` does not take"],
    ["a text in place of a server", "files: node", "is no group of settings"],
    ["arguments that are no list", "files: { command: node, args: x }", "is no list of texts"],
    ["a program that is no text", "files: { command: [node] }", "is no text"],
    ["an approval that is none", "files: { command: node, approval: maybe }", "Write one of these: true, false, hints."],
    ["a time that is none", "files: { command: node, timeout_ms: 0 }", "Write a whole number from 1"],
    ["values that are a list", "files: { command: node, env: [A] }", "is no group of values"],
    ["a name of a secret that is none", "files: { command: node, env: { A: { secret: 7 } } }", "Write `{ secret: NAME }`."],
    ["a secret in the file", "files: { command: node, env: { GITHUB_TOKEN: abc } }", "is a secret, and the file takes none"],
    [
      "a header that is a secret",
      "files: { url: https://a.example, headers: { Authorization: abc } }",
      "is a secret, and the file takes none",
    ],
    ["a secret as an argument", "files: { command: node, args: [server.js, --api-key=abc] }", "gives a secret to `--api-key`"],
    ["a secret as the argument after its flag", "files: { command: node, args: [server.js, --token, abc] }", "gives a secret to `--token`"],
    ["a password in the address", "files: { url: 'https://anne:abc@a.example/mcp' }", "has a secret in it"],
    ["a key in the address", "files: { url: 'https://a.example/mcp?api_key=abc' }", "has a secret in it"],
    ["a list of servers", "- files", "holds no settings by their names"],
    ["an alias", "files: &a { command: node }\nmore: *a", "uses an alias"],
    ["too many", Array.from({ length: 65 }, (_, at) => `s${at}: { command: node }`).join("\n"), "at most 64"],
  ])("are refused for %s, without the values of it", async (_, text, words) => {
    const refused = await refusal(text);
    expect(refused).toContain(words);
    expect(refused).not.toContain("abc");
  });
});

test("takes arguments and addresses that only look like those of secrets", async () => {
  const text =
    "files: { command: node, args: [token-counter.js, --keyboard, us, --token-file, a.txt, --no-auth] }\nweb: { url: 'https://a.example/mcp?page=2' }";
  const { files, web } = await parseMcpServers(text, "servers.yaml");
  expect(files).toMatchObject({ args: ["token-counter.js", "--keyboard", "us", "--token-file", "a.txt", "--no-auth"] });
  expect(web).toMatchObject({ url: "https://a.example/mcp?page=2" });
});

describe("`mcp` of loopwright.yaml", () => {
  test("is a path, or the servers themselves, of which the names alone are shown", async () => {
    expect((await parseConfigFile("mcp: servers.yaml\n", "loopwright.yaml")).level.values.mcp).toBe("servers.yaml");
    const { level, flaws } = await parseConfigFile(
      "mcp:\n  files: { command: node }\n  web: { url: https://a.example }\n",
      "loopwright.yaml",
    );
    expect(flaws).toEqual([]);
    expect(shownValue(optionNamed("mcp"), level.values.mcp ?? "")).toBe("files, web");
    expect(await parseMcpServers(level.values.mcp ?? "", "mcp")).toHaveProperty("web.url", "https://a.example");
  });

  test("names the line of a flaw", async () => {
    const { flaws } = await parseConfigFile("agent: assistant\nmcp:\n  files: { comand: node }\n", "loopwright.yaml");
    expect(flaws.map(({ message, fix }) => [message, fix])).toEqual([
      ["There is no option `comand` of the MCP server `files` of `mcp` of loopwright.yaml:3.", "Did you mean `command`?"],
    ]);
    const [flaw] = (await parseConfigFile("mcp: [files]\n", "loopwright.yaml")).flaws;
    expect(flaw?.message).toBe("`mcp` of loopwright.yaml:1 is no group of servers.");
  });
});
