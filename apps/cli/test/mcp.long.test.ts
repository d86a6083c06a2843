import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { emptyDirectory, run } from "./run-binary.ts";
import { startServer } from "./run-server.ts";

const place = (name: string): string => fileURLToPath(new URL(`../../../examples/mcp/${name}`, import.meta.url));
const servers = place("servers.yaml");

/** A working directory with a program that answers in place of a model. */
async function folder(agent = place("agent.mjs")): Promise<string> {
  const cwd = await emptyDirectory();
  await writeFile(join(cwd, "executor.json"), JSON.stringify({ kind: "subprocess", path: process.execPath, args: [agent] }));
  return cwd;
}

const env = { WEATHER_KEY: "key-of-weather" };

describe("loopwright ask --mcp", () => {
  test("answers with a tool of the server in the file, as the example shows, and asks a person before one that is not declared read-only", async () => {
    const cwd = await folder();
    const flags = ["--executor", "executor.json", "--mcp", servers];
    const { code, stdout } = await run(["ask", ...flags, "How is Oslo?"], { cwd, env });
    expect([code, stdout]).toEqual([0, expect.stringContaining("Rain in Oslo.")]);
    expect(stdout).not.toContain(env.WEATHER_KEY);
    const asked = await run(["ask", ...flags, "Set it."], { cwd, env });
    expect(asked.stderr).toContain("Waits for approval: weather__set_weather");
    // Without the servers the agent has no such tool.
    expect((await run(["ask", "--executor", "executor.json", "How is Oslo?"], { cwd, env })).stdout).toContain("There is no such tool.");
  });

  test("names a secret that is not set, a file that is not there, and a server that cannot be used, before anything is asked", async () => {
    const cwd = await folder();
    const ask = (file: string) => run(["ask", "--executor", "executor.json", "--mcp", file, "Hi"], { cwd });
    expect(await ask(servers)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("needs the secret `WEATHER_KEY`, which is not set"),
    });
    expect(await ask("gone.yaml")).toMatchObject({ code: 3, stderr: expect.stringContaining("cannot be read: ENOENT") });
    await writeFile(join(cwd, "bad.yaml"), 'files: { command: npx, args: ["-y", "files-mcp"] }');
    expect(await ask("bad.yaml")).toMatchObject({ code: 3, stderr: expect.stringContaining("without an exact version") });
  });
});

describe("loopwright doctor and config validate", () => {
  test("show what each server offers, one that is down, and each flaw with what was meant", async () => {
    const cwd = await folder();
    const looked = await run(["doctor", "--mcp", servers], { cwd, env });
    expect(looked.stdout).toMatch(/ok +mcp weather +forecast, set_weather/);
    await writeFile(join(cwd, "loopwright.yaml"), "mcp:\n  gone: { command: /nothing/there }\n");
    const down = await run(["doctor"], { cwd });
    expect([down.code, down.stdout]).toEqual([1, expect.stringMatching(/BAD +mcp gone/)]);
    expect((await run(["config", "validate"], { cwd })).code).toBe(0);
    await writeFile(join(cwd, "loopwright.yaml"), "mcp:\n  gone: { comand: node }\n");
    expect(await run(["config", "validate"], { cwd })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("Did you mean `command`?"),
    });
  });
});

describe("loopwright run with `mcp` in loopwright.yaml", () => {
  test("has the tools of a server over HTTP, which gets its secret, and works on while that server is down", async () => {
    const other = await startServer({
      cwd: await emptyDirectory(),
      flags: ["--protocols", "mcp"],
      env: { LOOPWRIGHT_TOKEN: "token-of-the-other" },
    });
    const cwd = await emptyDirectory();
    await mkdir(join(cwd, "parts"));
    const agent = `import { readFileSync } from "node:fs";
const { messages, tools } = JSON.parse(readFileSync(0, "utf8"));
const write = (value) => console.log(JSON.stringify(value));
const last = messages.findLast(({ role }) => role !== "notice");
const name = "other__ask_assistant";
if (last.role === "tool") write({ type: "text", delta: "It answered: " + last.content });
else if (tools.some((tool) => tool.name === name)) write({ type: "call", name, arguments: { input: "what is 6 * 7?" } });
else write({ type: "text", delta: "It is down." });
write({ type: "end" });`;
    await writeFile(join(cwd, "parts/agent.mjs"), agent);
    await writeFile(
      join(cwd, "executor.json"),
      JSON.stringify({ kind: "subprocess", path: process.execPath, args: ["./parts/agent.mjs"] }),
    );
    const settings = `executor: executor.json
mcp:
  other:
    url: ${other.url}/mcp
    private: true
    headers: { authorization: { secret: OTHER_AUTHORIZATION } }
    approval: false
`;
    await writeFile(join(cwd, "loopwright.yaml"), settings);
    const server = await startServer({ cwd, env: { OTHER_AUTHORIZATION: "Bearer token-of-the-other" }, isOffline: false });
    const first = await server.client.execute("Ask it.").result();
    expect(first.text).toContain("42");
    expect(JSON.stringify(first)).not.toContain("token-of-the-other");
    other.child.kill("SIGKILL");
    await other.ended;
    const second = await server.client.execute("Ask it.").result();
    expect(second.status).toBe("completed");
    expect(second.text).toContain("not_connected");
  });
});
