import { once } from "node:events";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { AgentEvent } from "@loopwright/core";
import { restrictedStart } from "@loopwright/simulator/node";
import { describe, expect, test } from "vitest";
import { emptyDirectory, main, run, runAll, runEach, start } from "./run-binary.ts";

const parse = (stdout: string): readonly AgentEvent[] =>
  stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as AgentEvent);

describe.concurrent("ask", () => {
  test("prints the answer on standard output and everything else on standard error", async () => {
    const { code, stdout, stderr } = await run(["ask", "what", "is", "6", "*", "7?"], { cwd: await emptyDirectory() });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^The tool `\w+` says: .*42/);
    expect(stderr).toContain("The offline demonstration model answers: no key is set");
    expect(stderr).toMatch(/● .+\n {2}└ .*42/);
    expect(stderr).toMatch(/Resume: loopwright chat --resume [a-z0-9]+\n$/);
  });

  test("fails with its exit code also when standard error is not read", async () => {
    const cwd = await emptyDirectory();
    for (const [words, code] of [
      [["ask", "--provider", "openai", "hello"], 3],
      [["ask", "--provider", "nobody", "hello"], 3],
      [["ask", "--unknown-flag"], 2],
    ] as const) {
      const { child, ended } = start(words, { cwd });
      child.stderr?.destroy();
      expect([words, (await ended).code]).toEqual([words, code]);
    }
  });

  test("takes files along, and refuses those that the model does not take, or that are of another type than their name", async () => {
    const cwd = await emptyDirectory();
    await writeFile(join(cwd, "notes.cfg"), "colour = red\n");
    await writeFile(join(cwd, "archive.zip"), new Uint8Array([80, 75, 3, 4, 0]));
    await writeFile(join(cwd, "page.png"), "<html>");
    const asked = (file: string) => ({ words: ["ask", "--json", "--offline", "Hi", "--attach", file] });
    const [taken, ...refused] = await runEach([asked("notes.cfg"), asked("archive.zip"), asked("page.png")], { cwd });
    const message = parse(taken?.stdout ?? "").flatMap((event) => (event.type === "input_accepted" ? [event.message] : []));
    const file = { type: "file", mediaType: "text/plain", name: "notes.cfg", source: { sizeBytes: 13 } };
    expect([taken?.code, message]).toMatchObject([0, [{ content: [{ type: "text", text: "Hi" }, file] }]]);
    expect(refused.map(({ code }) => code === 0)).toEqual([false, false]);
    expect(refused[0]?.stderr).toContain("MODEL_UNSUPPORTED");
    expect(refused[1]?.stderr).toContain("MEDIA_TYPE_UNSUPPORTED");
  });

  test("names a model that a custom server does not know as it is, where no key is set", async () => {
    const server = createServer((_, response) => {
      response.writeHead(404, { "Content-Type": "application/json" });
      response.end(JSON.stringify({ error: { message: "The model nonexistent is none of ours.", code: "model_not_found" } }));
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    const flags = ["--provider", "custom", "--base-url", `http://127.0.0.1:${port}/v1`, "--model", "nonexistent"];
    const { code, stderr } = await run(["ask", ...flags, "hello"], { cwd: await emptyDirectory() });
    server.close();
    expect(code).toBe(4);
    // The vendor's message is for operators (decision 0036); the model stands in the words of the command itself.
    expect(stderr).toContain("custom nonexistent answers");
    expect(stderr).toContain("(MODEL_NOT_FOUND)");
    expect(stderr).not.toContain("[removed]");
  });

  test("refuses a model for which no provider is chosen; the offline model does not answer in its place", async () => {
    const { code, stdout, stderr } = await run(["ask", "--model", "nosuch:thing", "hi"], { cwd: await emptyDirectory() });
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toContain("`nosuch:thing`");
    expect(stderr).toContain("--provider");
  });

  test("names a command to continue with that exists where it was started", async () => {
    const asked = async (env: Readonly<Record<string, string>>) => (await run(["ask", "hi"], { cwd: await emptyDirectory(), env })).stderr;
    expect(await asked({})).toMatch(/^Resume: loopwright chat --resume \w+$/m);
    expect(await asked({ LOOPWRIGHT_COMMAND: "npm start --" })).toMatch(/^Resume: npm start -- chat --resume \w+$/m);
  });

  test("prints one event a line with --json, framed and in order", async () => {
    const { code, stdout, stderr } = await run(["ask", "--json", "--offline", "6 * 7"], { cwd: await emptyDirectory() });
    const events = parse(stdout);
    const durable = events.filter((event) => "seq" in event).map((event) => event.type);
    expect(code).toBe(0);
    expect(stderr).toBe("");
    expect(events[0]?.type).toBe("session_start");
    expect(events.slice(-2).map((event) => event.type)).toEqual(["session_end", "execute_complete"]);
    expect(durable).toEqual([
      "input_accepted",
      "run_start",
      ...["message_start", "message_end"],
      ...["turn_start", "message_start", "message_end"],
      ...["tool_execution_start", "tool_execution_end", "message_start", "message_end", "turn_end"],
      ...["turn_start", "message_start", "message_end", "turn_end"],
      "run_end",
    ]);
    const lanes = events.filter((event) => "lane" in event);
    expect(lanes.some((event) => event.type === "text_delta")).toBe(true);
    for (const lane of new Set(lanes.map((event) => event.lane))) {
      const numbers = lanes.filter((event) => event.lane === lane).map((event) => event.n);
      expect(numbers).toEqual(numbers.map((_, at) => at + 1));
    }
  });

  test("reads what is piped in, alone, behind the words, and where `-` stands", async () => {
    const cwd = await emptyDirectory();
    const asked = async (words: readonly string[], input: string): Promise<unknown> => {
      const { stdout } = await run(["ask", "--json", ...words], { cwd, input });
      const accepted = parse(stdout).find((event) => event.type === "input_accepted");
      return accepted?.message;
    };
    expect(await asked([], "piped words\n")).toEqual({ role: "user", content: "piped words" });
    expect(await asked(["look at this", "-"], "a\nb\n")).toEqual({ role: "user", content: "look at this\n\na\nb" });
  });

  test("continues a session", async () => {
    const cwd = await emptyDirectory();
    const first = parse((await run(["ask", "--json", "one"], { cwd })).stdout)[0];
    const id = first?.type === "session_start" ? first.sessionId : "";
    expect((await run(["ask", "--session", id, "two"], { cwd })).code).toBe(0);
    const shown = await run(["sessions", "show", id], { cwd });
    expect(shown.stdout).toMatch(/> one[\s\S]*> two/);
  });

  test("is quiet when asked, and writes nothing for an empty answer", async () => {
    const { stderr } = await run(["ask", "--quiet", "hello"], { cwd: await emptyDirectory() });
    expect(stderr).toBe("");
  });

  test("stops at SIGINT, keeps the partial answer and ends with 130", async () => {
    const cwd = await emptyDirectory();
    const running = start(["ask", "--json", "long answer"], { cwd, env: { LOOPWRIGHT_OFFLINE_PACE: "5" } });
    await running.prints("text_delta");
    running.child.kill("SIGINT");
    const { code, stdout } = await running.ended;
    const end = parse(stdout).findLast((event) => event.type === "message_end");
    expect(code).toBe(130);
    expect(end?.message).toMatchObject({ role: "assistant", stopReason: "aborted" });
    expect(parse(stdout).at(-1)).toMatchObject({ type: "execute_complete", status: "aborted" });
    const search = await run(["sessions", "list"], { cwd });
    expect(search.stdout).toContain("aborted");
  });

  test("ends when the reader of its answer goes away", async () => {
    const running = start(["ask", "--json", "long answer"], { cwd: await emptyDirectory(), env: { LOOPWRIGHT_OFFLINE_PACE: "5" } });
    await running.prints("text_delta");
    running.child.stdout?.destroy();
    expect((await running.ended).code).toBe(130);
  });
});

describe("bad input ends with three lines and its exit code:", () => {
  const hint = /^.+ \([A-Z_]+\)\nwhy: .+\ntry: .+\n$/;
  const cases: readonly (readonly [string, readonly string[], Record<string, string>, number, string])[] = [
    ["an unknown command", ["aks", "hi"], {}, 2, "Did you mean ask?"],
    ["an unknown flag", ["ask", "--ofline", "hi"], {}, 2, "Did you mean --offline?"],
    ["a flag without its value", ["ask", "--provider"], {}, 2, "--provider"],
    ["flags against each other", ["ask", "--offline", "--provider", "openai", "hi"], {}, 2, "cannot be used with"],
    ["nothing to ask", ["ask"], {}, 2, "INPUT_INVALID"],
    ["an unknown provider", ["ask", "--provider", "opnai", "hi"], {}, 3, "Choose one of: openai"],
    ["an unknown provider in a variable", ["ask", "hi"], { LOOPWRIGHT_MODEL_PROVIDER: "x" }, 3, "LOOPWRIGHT_MODEL_PROVIDER"],
    ["a missing key", ["ask", "--provider", "anthropic", "hi"], {}, 3, "Set ANTHROPIC_API_KEY"],
    ["a base URL that is none", ["ask", "--base-url", "localhost", "hi"], {}, 3, "--base-url|base URL"],
    ["a named environment file that is missing", ["ask", "--env", "gone.env", "hi"], {}, 3, "gone.env"],
    ["an unknown session", ["ask", "--session", "nobody", "hi"], {}, 1, "SESSION_NOT_FOUND"],
    ["an unknown session to show", ["sessions", "show", "nobody"], {}, 1, "SESSION_NOT_FOUND"],
    ["an unknown session to delete", ["sessions", "rm", "../../x"], {}, 1, "SESSION_NOT_FOUND"],
    ["a limit that is no number", ["sessions", "list", "--limit", "many"], {}, 2, "INPUT_INVALID"],
  ];

  test.concurrent("all that is known before anything is asked", async () => {
    const lines = cases.map(([, words, env]) => ({ words, env }));
    const ended = await runEach(lines, { cwd: await emptyDirectory() });
    for (const [place, [what, , , code, text]] of cases.entries()) {
      const { stderr, stdout, code: found } = ended[place] ?? {};
      expect([what, stderr, stdout, found]).toEqual([what, expect.stringMatching(hint), "", code]);
      expect([what, stderr]).toEqual([what, expect.stringMatching(new RegExp(text))]);
    }
  });

  test.concurrent("a refused connection", async () => {
    // A port that a server has just left may be another program's by now; nothing listens on this one.
    const words = ["ask", "--quiet", "--provider", "custom", "--base-url", "http://127.0.0.1:9/v1", "--model", "m", "hi"];
    const ended = await run(words, { cwd: await emptyDirectory() });
    expect(ended.stderr).toMatch(hint);
    expect(ended.stderr).toContain("MODEL_UNREACHABLE");
    expect(ended.code).toBe(4);
  });

  test.concurrent.each<[string, number, object, string, number]>([
    ["a wrong key", 401, { error: { message: "Incorrect API key provided." } }, "MODEL_AUTH", 3],
    ["an unknown model", 404, { error: { message: "The model `m` does not exist." } }, "MODEL_NOT_FOUND", 4],
  ])("%s", async (_, status, body, code, exitCode) => {
    const secret = "sk-test-very-secret-1234567890";
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const words = [
      "ask",
      "--quiet",
      "--provider",
      "openai",
      "--base-url",
      `http://127.0.0.1:${port}/v1`,
      "--model",
      "m",
      "a private prompt",
    ];
    const ended = await run(words, { cwd: await emptyDirectory(), env: { OPENAI_API_KEY: secret } });
    server.close();
    expect(ended.stderr).toMatch(hint);
    expect(ended.stderr).toContain(code);
    expect(ended.stderr).not.toContain(secret);
    expect(ended.stderr).not.toContain("private prompt");
    expect(ended.code).toBe(exitCode);
  });

  test.concurrent("a store that is no database, and nothing of it is touched", async () => {
    const cwd = await emptyDirectory();
    await writeFile(join(cwd, "broken.db"), "this is no database ".repeat(500));
    const commands = [["ask", "hi"], ["sessions", "list"], ["chat"], ["doctor"]];
    const ended = await runAll(
      commands.map((words) => [...words, "--store", "broken.db"]),
      { cwd },
    );
    for (const { stderr } of ended.slice(0, 3)) expect(stderr).toMatch(/STORE_CORRUPT/);
    expect(ended[3]?.stdout).toMatch(/BAD {2}store[\s\S]*STORE_CORRUPT/);
    expect(ended.map(({ code }) => code)).toEqual([1, 1, 1, 1]);
  });

  test.concurrent("a store of a newer version, and nothing of it is touched", async () => {
    const cwd = await emptyDirectory();
    await run(["ask", "hi"], { cwd });
    const file = join(cwd, ".loopwright/sessions.db");
    const database = new DatabaseSync(file);
    database.exec("PRAGMA user_version = 999");
    database.close();
    const before = await readFile(file);
    const ended = await run(["ask", "hi"], { cwd });
    expect(ended.stderr).toMatch(hint);
    expect(ended.stderr).toContain("STORE_TOO_NEW");
    expect(ended.code).toBe(1);
    expect((await readFile(file)).equals(before)).toBe(true);
  });

  test.concurrent("a tool that throws, hangs or floods harms neither the run nor the session", async () => {
    const cwd = await emptyDirectory();
    const tool = (name: string, execute: string): string =>
      `{ name: "${name}", description: "Breaks.", parameters: { type: "object" }, timeoutMs: 50, outputMax: 100, execute: ${execute} }`;
    const tools = [
      tool("thrower", '() => { throw new Error("broke") }'),
      tool("hanger", "() => new Promise(() => {})"),
      tool("flooder", '() => "x".repeat(5_000_000)'),
    ];
    await writeFile(join(cwd, "tools.mjs"), `export const tools = [${tools.join(", ")}];\n`);
    const { stdout, code } = await run(["ask", "--json", "--tools", "tools.mjs", "use thrower, hanger and flooder"], { cwd });
    const outcomes = parse(stdout).flatMap((event) => (event.type === "tool_execution_end" ? [`${event.toolName} ${event.outcome}`] : []));
    expect(outcomes.sort()).toEqual(["flooder ok", "hanger error", "thrower error"]);
    expect(stdout.length).toBeLessThan(200_000);
    expect(code).toBe(0);
  });

  test("a store in a folder that cannot be written", async ({ skip }) => {
    const cwd = await emptyDirectory();
    await chmod(cwd, 0o755);
    const restricted = restrictedStart([main, cwd]);
    if (typeof restricted === "string") return skip(restricted);
    await mkdir(join(cwd, "shut"));
    await chmod(join(cwd, "shut"), 0o555);
    const ended = await run(["ask", "hi", "--store", "shut/sessions.db"], { cwd, restricted });
    expect(ended.stderr).toMatch(/STORE_READ_ONLY/);
    expect(ended.code).toBe(1);
  });
});
