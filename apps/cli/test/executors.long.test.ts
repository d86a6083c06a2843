import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createClient } from "@loopwright/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { createProvider } from "../src/compose/create-provider.ts";
import { loadConfiguration } from "../src/config/configure.ts";
import { settingsFrom } from "../src/settings/settings.ts";
import { emptyDirectory, run, start } from "./run-binary.ts";

/** Asks for a tool that writes a file where it is asked to, fails where it is asked to, and else answers. */
const program = `import { readFileSync } from "node:fs";
const { messages } = JSON.parse(readFileSync(0, "utf8"));
const write = (line) => console.log(JSON.stringify(line));
const { role, content } = messages.at(-1);
if (content === "Fail.") { console.error("Traceback: the index is gone"); process.exit(3); }
if (content === "Save it.") write({ type: "call", name: "file_create", arguments: { path: "saved.txt", content: "saved" } });
else write({ type: "text", delta: role === "tool" ? content : "The answer." });
write({ type: "end" });`;

/** A server of Ollama's interface that gives the same answer. */
async function model(): Promise<string> {
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    response.writeHead(200, { "Content-Type": "application/x-ndjson" });
    response.write(`${JSON.stringify({ model: "m", message: { role: "assistant", content: "The answer." }, done: false })}\n`);
    response.end(`${JSON.stringify({ model: "m", message: { role: "assistant", content: "" }, done: true, done_reason: "stop" })}\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const subprocess = JSON.stringify({ kind: "subprocess", path: process.execPath, args: ["./program.mjs"] });

/** The files of an agent of each kind. */
const kinds: readonly (readonly [kind: string, files: () => Promise<Readonly<Record<string, string>>>])[] = [
  ["model", async () => ({ "loopwright.yaml": `model: { provider: ollama, name: m, base_url: ${await model()} }\n` })],
  ["subprocess", async () => ({ "loopwright.yaml": "executor: e.json\n", "e.json": subprocess, "program.mjs": program })],
  ["stub", async () => ({ "loopwright.yaml": "executor: e.json\n", "e.json": '{"kind":"stub","text":"The answer."}' })],
];

async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const cwd = await emptyDirectory();
  for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text);
  return cwd;
}

/** The address of `loopwright run` in a folder with these files. */
async function served(files: Readonly<Record<string, string>>, flags: readonly string[] = []): Promise<string> {
  const running = start(["run", "--port", "0", ...flags], { cwd: await folderWith(files) });
  onTestFinished(() => void running.child.kill("SIGKILL"));
  await running.prints("Ctrl+C stops it");
  return / at (http:\S+)\n/.exec(await running.prints("\n"))?.[1] ?? "";
}

describe("executors over HTTP", () => {
  test.each(kinds)("C29: %s answers, keeps the conversation and lists it, as each other", async (_, files) => {
    const client = createClient({ url: await served(await files()) });
    const first = client.execute("Hello.", { context: {} });
    let streamed = "";
    for await (const event of first) if (event.type === "text_delta") streamed += event.delta;
    expect(streamed).toBe("The answer.");
    expect(await first.result()).toMatchObject({ status: "completed", text: "The answer." });
    const { sessionId } = first;
    expect(await client.execute("Again.", { sessionId }).result()).toMatchObject({ status: "completed", text: "The answer." });
    const session = await client.sessions.get(sessionId);
    expect(session.messages.map(({ message }) => message.role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect((await client.sessions.list()).sessions).toMatchObject([{ id: sessionId, status: "idle" }]);
  });

  test("C29, C36: a crash of a program is a failed run with the end of its standard error; its calls run, and with --mock-tools none does", async () => {
    const [, files] = kinds[1] ?? [];
    const given = (await files?.()) ?? {};
    const client = createClient({ url: await served(given) });
    const failed = await client.execute("Fail.", { context: {} }).result();
    expect(failed).toMatchObject({ status: "error", error: { code: "EXECUTOR_FAILED" } });
    expect(failed.error?.message).toMatch(/exit code 3\. The end of its standard error:\s+Traceback: the index is gone$/);
    expect((await client.execute("Save it.", { context: {} }).result()).text).toContain("saved.txt");
    const mocked = createClient({ url: await served(given, ["--mock-tools"]) });
    expect((await mocked.execute("Save it.", { context: {} }).result()).text).toContain("`file_create` was not run");
  });

  test("C29: `ask` answers with a program, and a flag that names a provider comes before the executor of the file", async () => {
    const [, files] = kinds[1] ?? [];
    const cwd = await folderWith((await files?.()) ?? {});
    expect(await run(["ask", "--quiet", "Hello."], { cwd })).toMatchObject({ code: 0, stdout: "The answer.\n" });
    expect(await run(["ask", "Fail."], { cwd })).toMatchObject({ code: 1, stderr: expect.stringContaining("the index is gone") });
    expect((await run(["ask", "--quiet", "--provider", "offline", "Hello."], { cwd })).stdout).not.toContain("The answer.");
  });
});

describe("C30: the executor is that of the configuration", () => {
  const named = async (files: Readonly<Record<string, string>>, flags: object = {}, real = {}): Promise<string> => {
    const directory = await folderWith(files);
    const provider = await createProvider(settingsFrom(await loadConfiguration({ flags, real, directory }), directory));
    return `${provider.name} ${provider.defaultModel}`;
  };
  const stub = '{"kind":"stub","text":"x"}';
  const files = { "loopwright.yaml": "executor: e.json\n", "e.json": stub, "s.json": subprocess };

  test.each<[what: string, files: Readonly<Record<string, string>>, flags: object, real: object, name: string]>([
    ["a model where none is named", {}, {}, { ANTHROPIC_API_KEY: "a" }, "anthropic claude"],
    ["the stub of a file", files, {}, { ANTHROPIC_API_KEY: "a" }, "stub stub"],
    ["the program of a flag before that of a file", files, { executor: "s.json" }, {}, "subprocess subprocess"],
    ["the program of a variable before that of a file", files, {}, { LOOPWRIGHT_EXECUTOR: "s.json" }, "subprocess subprocess"],
    ["a program with the model that is named beside it", files, { executor: "s.json", model: "crew" }, {}, "subprocess crew"],
    ["the model of a flag before the executor of a file", files, { provider: "openai" }, { OPENAI_API_KEY: "o" }, "openai"],
    [
      "an executor without the model of a weaker source",
      { ...files, "loopwright.yaml": "model: { name: m, provider: ollama }" },
      { executor: "e.json" },
      {},
      "stub stub",
    ],
  ])("%s", async (_, given, flags, real, name) => {
    expect(await named(given, flags, real)).toContain(name);
  });

  test.each([
    [{ "loopwright.yaml": "executor: e.json\nmodel: { provider: openai }" }, "named beside the provider `openai`"],
    [{ "loopwright.yaml": "model: { provider: executor }" }, "needs its file"],
    [{ "loopwright.yaml": "executor: none.json" }, "cannot be read"],
    [{ "loopwright.yaml": "executor: e.json", "e.json": "{" }, "it is no JSON"],
    [{ "loopwright.yaml": "executor: e.json", "e.json": "[]" }, "it is no JSON object"],
    [{ "loopwright.yaml": "executor: e.json", "e.json": "{}" }, "it has no `kind`"],
    [{ "loopwright.yaml": "executor: e.json", "e.json": '{"kind":"crew"}' }, "there is no kind `crew`"],
    [{ "loopwright.yaml": "executor: e.json", "e.json": '{"kind":"stub"}' }, "`text` of a stub is no text"],
    [{ "loopwright.yaml": "executor: e.json", "e.json": '{"kind":"stub","text":"a","path":"b"}' }, "a stub has no `path`"],
    [{ "loopwright.yaml": "executor: e.json", "e.json": '{"kind":"subprocess","path":"python3"}' }, "is not an absolute path"],
    [{ "loopwright.yaml": "executor: e.json\nmodel: { fallbacks: [executor] }", "e.json": stub }, "an executor answers for no other one"],
  ] satisfies readonly (readonly [Readonly<Record<string, string>>, string])[])("%j is refused", async (given, message) => {
    await expect(named(given)).rejects.toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining(message) });
  });
});
