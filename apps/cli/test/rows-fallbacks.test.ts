import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createAgent, createCallGuard, createSession, type ExecuteResult, execute } from "@loopwright/core";
import { manualClock } from "@loopwright/core/memory";
import { describe, expect, onTestFinished, test } from "vitest";
import { createChain, modelsOf } from "../src/compose/create-provider.ts";
import { loadConfiguration } from "../src/config/configure.ts";
import { type Settings, settingsFrom } from "../src/settings/settings.ts";
import { emptyDirectory, run, runEach } from "./run-binary.ts";

/** The settings of a folder with this file. */
async function settingsIn(file: string, real: Readonly<Record<string, string>> = {}, flags: object = {}): Promise<Settings> {
  const directory = await emptyDirectory();
  if (file !== "") await writeFile(join(directory, "loopwright.yaml"), file);
  return settingsFrom(await loadConfiguration({ flags, real, directory }), directory);
}

interface Seen {
  readonly path: string;
  readonly model: string;
  readonly organization: string | undefined;
}

/** A server that has three vendors: OpenAI and Anthropic answer with the status, or nothing at all, and Ollama with a text. */
async function vendors(status: number | "silence" = 503) {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const part of request) text += part;
    const { model = "" } = JSON.parse(text || "{}") as { readonly model?: string };
    seen.push({ path: request.url ?? "", model, organization: request.headers["openai-organization"]?.toString() });
    if (request.url === "/api/chat") {
      const line = { model, created_at: "2026-11-28T08:00:00Z", message: { role: "assistant", content: "From the fallback." }, done: true };
      return void response
        .writeHead(200, { "Content-Type": "application/x-ndjson" })
        .end(`${JSON.stringify({ ...line, done_reason: "stop" })}\n`);
    }
    if (status === "silence") return;
    response.writeHead(status, { "Content-Type": "application/json" }).end('{"error":{"message":"no","type":"error"}}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const unhurried = 100_000_000;

/** One question to an agent of these models, each tried once. */
async function ask(settings: Settings, silent?: { readonly seen: readonly Seen[] }): Promise<ExecuteResult> {
  const clock = manualClock();
  const agent = createAgent({
    name: "asked",
    model: modelsOf(await createChain(settings)),
    limits: { attemptsMax: 1 },
    deadlines: { firstByteMs: silent ? 60_000 : unhurried, idleMs: unhurried, totalMs: unhurried },
  });
  const session = createSession({ agent, clock, callGuard: createCallGuard({ clock }) });
  const stream = execute(session, "Hello.");
  const result = stream.result();
  let isOver = false;
  void result.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await new Promise<void>((resolve) => setImmediate(resolve));
    // The time limit of a silent vendor begins to pass when the request has reached it.
    if (silent?.seen.length !== 0) clock.advance(1_000);
  }
  return result;
}

const chainOf = ({ vendor, model, fallbacks }: Settings): readonly string[] =>
  [{ vendor, model }, ...fallbacks].map((one) => `${one.vendor.name}:${one.model ?? "default"}`);

describe("fallbacks", () => {
  test("C24: of the file follow the model where it is overloaded, each with its own model or the default of its vendor", async () => {
    const { url, seen } = await vendors();
    const file = [
      `model: { provider: openai, name: first, base_url: "${url}/v1", fallbacks: [`,
      `  { provider: anthropic, name: second, base_url: "${url}" }, "ollama"] }`,
    ].join("\n");
    const settings = await settingsIn(file, { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k", OLLAMA_HOST: url });
    const result = await ask(settings);
    expect(result.text).toBe("From the fallback.");
    expect(result.messages.at(-1)).toMatchObject({ provider: "ollama" });
    expect(seen.map(({ model }) => model)).toEqual(["first", "second", modelsOf(await createChain(settings))[2]?.model]);
  });

  test("C25: of the variable are taken in their order before those of the file, a model may have colons, and an entry that is none is named at the start", async () => {
    const file = "model: { provider: openai, fallbacks: [gemini] }";
    const real = { OPENAI_API_KEY: "k", LOOPWRIGHT_MODEL_FALLBACKS: "ollama:llama3:8b, anthropic" };
    expect(chainOf(await settingsIn(file, real))).toEqual(["openai:default", "ollama:llama3:8b", "anthropic:default"]);
    expect(chainOf(await settingsIn(file, real, { fallbacks: ["gemini:x"] }))).toEqual(["openai:default", "gemini:x"]);
    for (const [text, named] of [
      ["anthropic,opnai:x", "`opnai`"],
      ["anthropic:", "`anthropic:`"],
      ["custom:m", "`custom:m`"],
      ["offline", "`offline`"],
      ["anthropic?modle=x", "`modle`"],
      ["anthropic:m?organization_id=o", "`anthropic:m`"],
      ["openai:m?base_url=ftp://x", "`openai:m`"],
    ] as const) {
      const wrong = settingsIn("", { LOOPWRIGHT_MODEL_FALLBACKS: text });
      await expect(wrong).rejects.toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining(named) });
    }
    const group = settingsIn("model: { fallbacks: [{ provider: anthropic, modle: x }] }");
    await expect(group).rejects.toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining("modle") });
  });

  test("C22: inherit the organisation of the first model unless they have their own, and no other vendor is sent one", async () => {
    const { url, seen } = await vendors();
    const at = (more: object): string => JSON.stringify({ provider: "openai", base_url: `${url}/v1`, ...more });
    const file = [
      `model: { provider: openai, name: first, base_url: "${url}/v1", organization_id: org-first, fallbacks: [`,
      `  ${at({ name: "second" })}, ${at({ name: "third", organization_id: "org-own" })},`,
      `  { provider: anthropic, name: fourth, base_url: "${url}" }] }`,
    ].join("\n");
    await ask(await settingsIn(file, { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" }));
    expect(seen.map(({ model, organization }) => [model, organization])).toEqual([
      ["first", "org-first"],
      ["second", "org-first"],
      ["third", "org-own"],
      ["fourth", undefined],
    ]);
  });

  test.each([
    [429, 2],
    [500, 2],
    [503, 2],
    [529, 2],
    [504, 2],
    ["silence", 2],
    [401, 1],
    [403, 1],
    [402, 1],
    [400, 1],
  ] as const)("C26: after %s from the first vendor, %i vendors are asked", async (status, count) => {
    const { url, seen } = await vendors(status);
    const file = `model: { provider: openai, name: first, base_url: "${url}/v1", fallbacks: ["ollama:m"] }`;
    const settings = await settingsIn(file, { OPENAI_API_KEY: "k", OLLAMA_HOST: url });
    const result = await ask(settings, status === "silence" ? { seen } : undefined);
    expect(seen.map(({ model }) => model)).toEqual(["first", "m"].slice(0, count));
    expect(result.status).toBe(count === 2 ? "completed" : "error");
  });

  test("C28: are the vendors of the other keys where the provider was found by its key, and none where that is switched off or a provider is named", async () => {
    const keys = { OPENAI_API_KEY: "o", ANTHROPIC_API_KEY: "a", LOOPWRIGHT_API_KEY: "c" };
    const settings = await settingsIn("", keys);
    expect(chainOf(settings)).toEqual(["openai:default", "anthropic:default"]);
    const { url, seen } = await vendors();
    const away = settings.fallbacks.map((one) => ({ ...one, model: "m", baseUrl: url }));
    await ask({ ...settings, model: "m", baseUrl: `${url}/v1`, fallbacks: away });
    expect(seen.map(({ path }) => path)).toEqual([expect.stringMatching(/^\/v1\//), "/v1/messages"]);
    for (const off of ["none", "false"])
      expect(chainOf(await settingsIn("", { ...keys, LOOPWRIGHT_MODEL_FALLBACKS: off }))).toEqual(["openai:default"]);
    expect(chainOf(await settingsIn("model: { fallbacks: [] }", keys))).toEqual(["openai:default"]);
    expect(chainOf(await settingsIn("", keys, { provider: "anthropic" }))).toEqual(["anthropic:default"]);
    expect(chainOf(await settingsIn("", keys, { offline: true }))).toEqual(["offline:default"]);
  });

  test("are shown by doctor and config print, without what an address hides, and a fallback without its key is refused at the start", async () => {
    const cwd = await emptyDirectory();
    const secret = "canary-of-an-address";
    const env = {
      OPENAI_API_KEY: "k",
      LOOPWRIGHT_MODEL_FALLBACKS: `custom:m?base_url=http://user:${secret}@127.0.0.1:1/v1,anthropic:claude-x`,
    };
    const ended = await runEach(
      [
        { words: ["doctor"], env },
        { words: ["config", "print", "--sources"], env },
        { words: ["config", "print"], env },
        { words: ["config", "validate"], env },
        { words: ["config", "print", "--sources"], env: { OPENAI_API_KEY: "k", GEMINI_API_KEY: "g" } },
        { words: ["ask", "--fallbacks", "acme", "Hello."], env },
        { words: ["config", "validate", "--provider", "ollama", "--fallbacks", "none"], env },
      ],
      { cwd },
    );
    const [doctor, sources, yaml, validate, found, wrong, none] = ended.map(({ code, stdout, stderr }) => ({
      code,
      text: stdout + stderr,
    }));
    expect(doctor?.text).toMatch(/ok +fallback +custom m \(by LOOPWRIGHT_MODEL_FALLBACKS\)/);
    expect(doctor?.text).toMatch(/BAD +fallback +.*ANTHROPIC_API_KEY is not set/);
    expect(sources?.text).toMatch(
      /^model\.fallbacks +custom:m\?base_url=http%3A%2F%2F127\.0\.0\.1%3A1%2Fv1, anthropic:claude-x +LOOPWRIGHT_MODEL_FALLBACKS$/m,
    );
    expect(yaml?.text).toContain("    - anthropic:claude-x\n");
    expect(validate).toMatchObject({ code: 3, text: expect.stringContaining("ANTHROPIC_API_KEY is not set") });
    expect(found?.text).toMatch(/^model\.fallbacks +gemini +GEMINI_API_KEY$/m);
    expect(wrong).toMatchObject({ code: 3, text: expect.stringContaining("`acme`") });
    expect(none?.code).toBe(0);
    for (const { text } of [doctor, sources, yaml, validate, wrong].flatMap((one) => one ?? [])) expect(text).not.toContain(secret);
  });

  test("C27: of one process are known to the next: a vendor that failed is not asked again within its cooldown", async () => {
    const cwd = await emptyDirectory();
    const { url, seen } = await vendors();
    const env = { OPENAI_API_KEY: "k", OLLAMA_HOST: url, LOOPWRIGHT_MODEL_FALLBACKS: "ollama:m" };
    const words = ["ask", "--provider", "openai", "--base-url", `${url}/v1`, "--model", "first", "--json", "Hello."];
    const one = await run(words, { cwd, env });
    expect(one).toMatchObject({ code: 0, stdout: expect.stringContaining("From the fallback.") });
    const before = seen.length;
    expect(seen.map(({ model }) => model)).toEqual(["first", "first", "first", "m"]);
    const other = await run(words, { cwd, env });
    expect(other).toMatchObject({ code: 0, stdout: expect.stringContaining("From the fallback.") });
    expect(seen.slice(before).map(({ model }) => model)).toEqual(["m"]);
  });
});
