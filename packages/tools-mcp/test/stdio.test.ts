import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { memorySecrets } from "@loopwright/core/memory";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type McpStdioServer, type McpTools, mcpTools } from "../src/index.ts";
import { useMcp } from "./use-mcp.ts";

const program = fileURLToPath(new URL("stdio-server.ts", import.meta.url));
const child = (more: Partial<McpStdioServer> = {}): McpStdioServer => ({
  command: process.execPath,
  args: ["--conditions=@loopwright/source", program],
  ...more,
});

const opened: McpTools[] = [];
const using = (options: Parameters<typeof mcpTools>[0]): McpTools => {
  const mcp = mcpTools(options);
  opened.push(mcp);
  return mcp;
};
afterEach(async () => {
  await Promise.all(opened.splice(0).map((mcp) => mcp.close()));
});

/** Whether a process runs: a dead one that is not collected does not. */
async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const status = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return !/^\d+ \(.*\) Z/.test(status);
}

const patience = { timeout: 60_000, interval: 50 };

describe("a server that is a child process", () => {
  it("has the variables that it is given and those that find programs, and no others (M05)", async () => {
    vi.stubEnv("LOOPWRIGHT_CANARY", "not for children");
    const secrets = memorySecrets();
    await secrets.set("acme", "token", "sk-CANARY-9876543210");
    const mcp = using({ servers: { child: child({ env: { TOKEN: { secret: "token" }, MODE: "test" } }) }, secrets });
    const { results, log } = await useMcp(mcp, [{ name: "child__environment" }]);
    vi.unstubAllEnvs();
    const variables = JSON.parse(/\n(\{.*\})\n/.exec(results[0]?.text ?? "")?.[1] ?? "{}") as Record<string, string>;
    expect(Object.keys(variables).sort()).toEqual(["HOME", "LANG", "MODE", "PATH", "TOKEN"]);
    expect(variables["TOKEN"]).toBe("[secret]");
    expect(log).not.toContain("sk-CANARY-9876543210");
  });

  it("ends with the run, and so does what it started", async () => {
    const mcp = using({ servers: { child: child() } });
    const { results } = await useMcp(mcp, [{ name: "child__fork" }]);
    const pids = JSON.parse(/\{"server".*\}/.exec(results[0]?.text ?? "")?.[0] ?? "{}") as Record<string, number>;
    expect(Object.keys(pids)).toEqual(["server", "grandchild"]);
    await vi.waitFor(async () => {
      expect(await Promise.all(Object.values(pids).map(isAlive))).toEqual([false, false]);
    }, patience);
  });

  it("that dies in a call is an error of that call, and is started again for the next", async () => {
    const mcp = using({ servers: { child: child() }, limits: { retryMs: 0 } });
    const { results, status } = await useMcp(mcp, [{ name: "child__die" }, { name: "child__environment" }]);
    expect(results.map(({ outcome }) => outcome)).toEqual(["error", "ok"]);
    expect(results[0]?.text).toContain("The MCP server `child` cannot be reached (not_connected).");
    expect(status).toBe("completed");
  });

  it("that cannot be started fails no run", async () => {
    const mcp = using({ servers: { gone: { command: "/nowhere/at/all" } } });
    const { status, requests } = await useMcp(mcp, []);
    expect(status).toBe("completed");
    expect(requests).toContain("The MCP server `gone` could not be started (no_process).");
  });

  it("that lists a tool with a schema that nests too deep is used without that tool, and a notice names it", async () => {
    const answers = `
      const nested = '{"items":'.repeat(1000) + "{}" + "}".repeat(1000);
      const tools = '{"tools":[{"name":"plain","inputSchema":{"type":"object"}},{"name":"deep","inputSchema":{"type":"object","properties":{"x":' + nested + "}}}]}";
      require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
        const { id, method, params } = JSON.parse(line);
        const welcome = () => JSON.stringify({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "deep", version: "1" } });
        if (id !== undefined) console.log('{"jsonrpc":"2.0","id":' + id + ',"result":' + (method === "initialize" ? welcome() : tools) + "}");
      });`;
    const { status, shown, log } = await useMcp(using({ servers: { odd: child({ args: ["-e", answers] }) } }), []);
    expect([status, shown]).toEqual(["completed", [["odd__plain"]]]);
    expect(log).toContain("The tool odd__deep of an MCP server is left out: its schema nests deeper than 64 levels.");
  });

  it("that writes anything but the protocol is stopped at its limit", async () => {
    const noise = child({ args: ["-e", "setInterval(() => process.stdout.write('x'.repeat(65536)), 1)"] });
    const mcp = using({ servers: { noise }, limits: { answerBytesMax: 200_000 } });
    const [survey] = await mcp.survey({ scope: "acme", user: "ada" });
    expect(survey?.error?.details).toMatchObject({ server: "noise" });
  });

  it("ends when the process that uses it is killed", async () => {
    const file = join(tmpdir(), `mcp-parent-${process.pid}.mjs`);
    const stubborn =
      "process.on('SIGTERM', () => {}); process.stdin.resume(); process.stdin.on('end', () => {}); setInterval(() => {}, 1000);";
    await writeFile(
      file,
      `import { StdioTransport } from ${JSON.stringify(new URL("../src/stdio-transport.ts", import.meta.url).href)};
       const transport = new StdioTransport({ command: process.execPath, args: ["-e", ${JSON.stringify(stubborn)}], variables: {}, directory: undefined, stderr: "ignore", bytesMax: 1000 });
       await transport.start();
       console.log(transport.pid);
       setInterval(() => {}, 1000);`,
    );
    const parent = spawn(process.execPath, ["--conditions=@loopwright/source", file], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(parent.stdout, "data")) as [Buffer];
    const pid = Number(String(line));
    expect(await isAlive(pid)).toBe(true);
    parent.kill("SIGKILL");
    await rm(file);
    await vi.waitFor(async () => expect(await isAlive(pid)).toBe(false), patience);
  });
});

// On Windows nothing guards the process.
it.skipIf(process.platform === "win32")("A server starts where no file descriptor is left for its guard", async () => {
  const file = join(tmpdir(), `mcp-descriptors-${process.pid}.mjs`);
  await writeFile(
    file,
    `import { channel } from "node:diagnostics_channel";
     import { closeSync, openSync } from "node:fs";
     import { StdioTransport } from ${JSON.stringify(new URL("../src/stdio-transport.ts", import.meta.url).href)};
     const taken = [];
     channel("child_process").subscribe(({ process: child }) => child.once("spawn", () => {
       try { for (;;) taken.push(openSync("/dev/null")); } catch {}
     }));
     const transport = new StdioTransport({ command: process.execPath, args: ["-e", "process.stdin.resume()"], variables: {}, directory: undefined, stderr: "ignore", bytesMax: 1000 });
     const outcome = await transport.start().then(() => "started", String);
     for (const descriptor of taken) closeSync(descriptor);
     await transport.close();
     console.log(taken.length > 0, outcome);`,
  );
  const shell = ["-c", 'ulimit -n 256 && exec "$@"', "sh", process.execPath, "--conditions=@loopwright/source", "--no-warnings", file];
  const caller = spawn("/bin/sh", shell, { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(caller.stdout, "data")) as [Buffer];
  await rm(file);
  expect(String(line)).toBe("true started\n");
});

describe("the command of a server", () => {
  it.each([
    ["with a shell's words", { command: "node; rm -rf /" }],
    ["by a relative path", { command: "./server" }],
    ["that fetches a package without a version", { command: "npx", args: ["-y", "some-server"] }],
    ["that fetches whatever is newest", { command: "npx", args: ["-y", "some-server@latest"] }],
    ["that fetches a Python package without a version", { command: "uvx", args: ["some-server"] }],
  ])("(%s) is refused (M05)", (_, server) => {
    expect(() => mcpTools({ servers: { x: server } })).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });

  it("may fetch a package of an exact version, or any when the settings allow it", () => {
    const exact = { command: "npx", args: ["-y", "@some/server@1.2.3"] };
    expect(() => mcpTools({ servers: { a: exact, b: { command: "npx", args: ["server"], unpinned: true } } })).not.toThrow();
  });
});
