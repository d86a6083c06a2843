import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import type { AssistantMessage } from "@loopwright/core";
import { describe, expect, onTestFinished, test } from "vitest";
import { emptyDirectory, run, start } from "./run-binary.ts";
import { startServer } from "./run-server.ts";

const slow = { LOOPWRIGHT_OFFLINE_PACE: "5" };
const three = /^.+ \([A-Z_]+\)\nwhy: .+\ntry: .+\n$/;

/** The last message, as an answer. */
function lastAnswer(messages: readonly { readonly role: string }[]): AssistantMessage {
  const last = messages.at(-1);
  expect(last?.role).toBe("assistant");
  return last as AssistantMessage;
}

describe.concurrent("run", () => {
  test("C31: prints its address, the model and its reason, where sessions are kept and how it is stopped; and answers there", async ({
    onTestFinished: onEnd,
  }) => {
    const cwd = await emptyDirectory();
    const server = await startServer({ onEnd, cwd });
    const written = await server.prints("\n");
    expect(written).toMatch(/^Loopwright serves .+ at http:\/\/127\.0\.0\.1:\d+\n/);
    expect(written).toContain("(chosen by --offline)");
    expect(written).toContain(`Sessions are kept in ${join(cwd, ".loopwright/sessions.db")}`);
    expect(await (await fetch(`${server.url}/healthz`)).text()).toBeTruthy();
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    const { agents } = await server.client.agents();
    expect(agents[0]).toMatchObject({ name: "assistant", model: "offline-demo" });

    server.child.kill("SIGTERM");
    const { code, stdout, stderr } = await server.ended;
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/Stopping\.\nStopped\.\n$/);
  });

  test("answers over HTTP with the assistant's tools, and the terminal finds the session after that", async ({ onTestFinished: onEnd }) => {
    const cwd = await emptyDirectory();
    const server = await startServer({ onEnd, cwd });
    const stream = server.client.execute("what is 6 * 7?", { context: {} });
    const { status, text } = await stream.result();
    expect(status).toBe("completed");
    expect(text).toContain("42");
    server.child.kill("SIGINT");
    await server.ended;
    const shown = await run(["sessions", "show", stream.sessionId], { cwd });
    expect(shown.stdout).toMatch(/> what is 6 \* 7\?[\s\S]*42/);
  });

  test("prints everything as JSON with --json", async () => {
    const running = start(["run", "--offline", "--port", "0", "--json"], { cwd: await emptyDirectory() });
    const first = JSON.parse((await running.prints("\n")).split("\n")[0] ?? "") as { readonly message: string; readonly url: string };
    expect(first).toMatchObject({ level: "info", message: "listening", provider: "offline" });
    expect((await fetch(`${first.url}/healthz`)).status).toBe(200);
    running.child.kill("SIGTERM");
    const { code, stdout } = await running.ended;
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { readonly message: string }).message);
    expect(code).toBe(0);
    expect(lines.slice(-2)).toEqual(["stopping", "stopped"]);
  });

  test("wants its token of everybody, and never prints it", async ({ onTestFinished: onEnd }) => {
    const token = "a-token-that-nobody-guesses";
    const cwd = await emptyDirectory();
    const server = await startServer({ onEnd, cwd, env: { LOOPWRIGHT_TOKEN: token } });
    expect((await fetch(`${server.url}/api/sessions`)).status).toBe(401);
    expect((await fetch(`${server.url}/api/sessions`, { headers: { Authorization: `Bearer ${token}` } })).status).toBe(200);

    const refused = await run(["ask", "--url", server.url, "hi"], { cwd });
    expect(refused.stderr).toMatch(three);
    expect(refused.stderr).toContain("UNAUTHENTICATED");
    expect(refused.code).toBe(3);
    const asked = await run(["ask", "--url", server.url, "6 * 7"], { cwd, env: { LOOPWRIGHT_TOKEN: token } });
    expect(asked.stdout).toContain("42");
    server.child.kill("SIGTERM");
    const { stdout, stderr } = await server.ended;
    expect(stdout + stderr + refused.stderr + asked.stderr).not.toContain(token);
  });
});

describe.concurrent("a server that ends", () => {
  test("continues unfinished runs at the next start when Ctrl+C is pressed twice", async ({ onTestFinished: onEnd }) => {
    const cwd = await emptyDirectory();
    const server = await startServer({ onEnd, cwd, env: slow });
    const { runId } = await server.client.sessions.create({ id: "one" }).then(() => server.client.sessions.submit("one", "long answer"));
    server.child.kill("SIGINT");
    const ended = await server.ended;
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain("Stopping. 1 run will continue at the next start.");

    const again = await startServer({ onEnd, cwd });
    await again.prints("A run that was cut off continues.");
    for await (const batch of again.client.follow("one", { after: "" })) {
      if (batch.some((event) => event.type === "run_end" && event.runId === runId)) break;
    }
    const { messages } = await again.client.sessions.get("one");
    expect(messages.map(({ message }) => message.role)).toEqual(["user", "assistant"]);
    expect(lastAnswer(messages.map(({ message }) => message)).stopReason).toBe("stop");
  });
});

describe("tools that cannot work end it with exit code 3 before it listens:", () => {
  const schema = '{ type: "object" }';
  test.each([
    ["a name that no vendor takes", `export const a = { name: "not a name", description: "Acts.", parameters: ${schema} };`, "not a name"],
    [
      "two of one name",
      `export const a = { name: "act", description: "Acts.", parameters: ${schema} };\nexport const b = { ...a };`,
      "two tools are named `act`",
    ],
    ["a schema that is no object's", 'export const a = { name: "act", description: "Acts.", parameters: { type: "string" } };', "`act`"],
  ])("%s", async (_, module, words) => {
    const cwd = await emptyDirectory();
    await writeFile(join(cwd, "tools.mjs"), module);
    const { code, stdout, stderr } = await run(["run", "--offline", "--tools", "tools.mjs", "--port", "0"], { cwd });
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toMatch(three);
    expect(stderr).toContain(words);
  });
});

describe("bad input ends with three lines and its exit code:", () => {
  test.concurrent.each<[string, readonly string[], number, RegExp]>([
    ["a port that is none", ["run", "--port", "web"], 3, /is no port/],
    ["a host that others reach without a token", ["run", "--host", "0.0.0.0"], 3, /LOOPWRIGHT_TOKEN/],
    ["a host that is none of this machine", ["run", "--host", "192.0.2.1", "--insecure"], 3, /192\.0\.2\.1/],
    ["a short token", ["run", "--token", "abc"], 3, /fewer than 16/],
    ["a time that is none", ["run", "--shutdown-timeout", "soon"], 3, /shutdown-timeout/],
    ["an unknown flag", ["run", "--prot", "1"], 2, /Did you mean --port\?/],
    ["a provider without its key", ["run", "--provider", "openai"], 3, /OPENAI_API_KEY/],
    ["a server that is not there", ["ask", "--url", "http://127.0.0.1:9", "hi"], 4, /SERVER_UNREACHABLE/],
    ["an address that is none", ["ask", "--url", "localhost:8080", "hi"], 3, /--url/],
    ["an address with a password", ["ask", "--url", "http://a:b@localhost", "hi"], 3, /LOOPWRIGHT_TOKEN/],
    ["a server and a provider", ["ask", "--url", "http://127.0.0.1:9", "--offline", "hi"], 2, /cannot be used with/],
    ["a chat on a server without a terminal", ["chat", "--url", "http://127.0.0.1:9"], 2, /no terminal/],
    ["the sessions of a server that is not there", ["sessions", "list", "--url", "http://127.0.0.1:9"], 4, /SERVER_UNREACHABLE/],
  ])("%s", async (_, words, code, text) => {
    const ended = await run(words, { cwd: await emptyDirectory() });
    expect(ended.stderr).toMatch(three);
    expect(ended.stderr).toMatch(text);
    expect(ended.stdout).toBe("");
    expect(ended.code).toBe(code);
  });

  test("a port that is taken", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const ended = await run(["run", "--offline", "--port", `${port}`], { cwd: await emptyDirectory() });
    expect(ended.stderr).toMatch(three);
    expect(ended.stderr).toContain(`Port ${port} is taken`);
    expect(ended.code).toBe(3);
  });
});
