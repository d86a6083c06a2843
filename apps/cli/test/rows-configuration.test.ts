import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createProvider } from "../src/compose/create-provider.ts";
import { loadConfiguration } from "../src/config/configure.ts";
import { type Settings, settingsFrom } from "../src/settings/settings.ts";
import { type Ended, emptyDirectory, runEach } from "./run-binary.ts";

/** The settings of a folder with these files. */
async function settingsIn(
  files: Readonly<Record<string, string>>,
  flags: object = {},
  real: Readonly<Record<string, string>> = {},
): Promise<Settings> {
  const directory = await emptyDirectory();
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  return settingsFrom(await loadConfiguration({ flags, real, directory }), directory);
}

interface Seen {
  readonly path: string;
  readonly organization: string | undefined;
  readonly body: { readonly model?: string };
}

/** A server that keeps what it was asked and refuses it. */
async function vendor(): Promise<{ readonly url: string; readonly seen: readonly Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const part of request) text += part;
    const organization = request.headers["openai-organization"];
    seen.push({ path: request.url ?? "", organization: organization?.toString(), body: JSON.parse(text || "{}") as Seen["body"] });
    response.writeHead(401, { "Content-Type": "application/json" }).end('{"error":{"message":"refused"}}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

/** Asks the provider of the settings once; it is refused. */
async function ask(settings: Settings): Promise<void> {
  const provider = await createProvider(settings);
  const request = { model: settings.model ?? provider.defaultModel, messages: [{ role: "user", content: "Hello." }] } as const;
  await expect(
    (async () => {
      for await (const _ of provider.stream(request, { signal: AbortSignal.timeout(20_000), attempt: 1 }));
    })(),
  ).rejects.toThrow();
}

const chosen = async (...given: Parameters<typeof settingsIn>): Promise<string> => {
  const { vendor: found, because } = await settingsIn(...given);
  return `${found.name} by ${because}`;
};

describe("the provider", () => {
  test("C06: has a default model that `doctor` names and the wire carries, and another by a flag", async () => {
    const { url, seen } = await vendor();
    const ollama = await settingsIn({}, {}, { OLLAMA_HOST: url });
    await ask(ollama);
    await ask(await settingsIn({}, { provider: "ollama", model: "other" }, { OLLAMA_HOST: url }));
    const named = (await createProvider(ollama)).defaultModel;
    expect(seen.filter(({ path }) => path === "/api/chat").map(({ body }) => body.model)).toEqual([named, "other"]);
    const [doctor] = await runEach([{ words: ["doctor", "--offline"] }], { cwd: await emptyDirectory() });
    for (const name of ["openai", "anthropic", "gemini", "ollama", "offline"])
      expect(doctor?.stdout).toMatch(new RegExp(`${name} +default model \\S+`));
  });

  test("C07: and its model are those of the file where nothing else names one", async () => {
    const settings = await settingsIn({ "loopwright.yaml": "model: { provider: ollama, name: small }" });
    expect([settings.vendor.name, settings.model, settings.because]).toEqual(["ollama", "small", "loopwright.yaml:1"]);
  });

  test("C08: is found by the keys that exist, in the documented order, where none is named", async () => {
    expect(await chosen({}, {}, { ANTHROPIC_API_KEY: "a" })).toBe("anthropic by ANTHROPIC_API_KEY");
    expect(await chosen({}, {}, { ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "o" })).toBe("openai by OPENAI_API_KEY");
    expect(await chosen({ ".env": "GEMINI_API_KEY=g" }, {}, { OLLAMA_HOST: "h" })).toBe("gemini by GEMINI_API_KEY");
  });

  test("C09, C37: is that of the flag, then of the variable, then of the file, then of the keys", async () => {
    const file = { "loopwright.yaml": "model: { provider: anthropic, name: from-file }" };
    const keys = { OPENAI_API_KEY: "o", ANTHROPIC_API_KEY: "a", GEMINI_API_KEY: "g" };
    const variable = { LOOPWRIGHT_MODEL_PROVIDER: "gemini", LOOPWRIGHT_MODEL: "from-variable" };
    expect(await chosen(file, { provider: "ollama", model: "from-flag" }, { ...keys, ...variable })).toBe("ollama by --provider");
    expect(await chosen(file, {}, { ...keys, ...variable })).toBe("gemini by LOOPWRIGHT_MODEL_PROVIDER");
    expect(await chosen(file, {}, keys)).toBe("anthropic by loopwright.yaml:1");
    expect(await chosen({}, {}, keys)).toBe("openai by OPENAI_API_KEY");
    const { model } = await settingsIn(file, { model: "from-flag" }, { ...keys, ...variable });
    expect(model).toBe("from-flag");
    expect((await settingsIn(file, {}, keys)).model).toBe("from-file");
  });

  test("C20, C21: gets the organisation of the file, or the one of OPENAI_ORG_ID before it, in the header of each request", async () => {
    const { url, seen } = await vendor();
    const file = { "loopwright.yaml": `model:\n  provider: openai\n  name: m\n  base_url: ${url}/v1\n  organization_id: org-file\n` };
    await ask(await settingsIn(file, {}, { OPENAI_API_KEY: "sk" }));
    await ask(await settingsIn(file, {}, { OPENAI_API_KEY: "sk", OPENAI_ORG_ID: "org-environment" }));
    expect(seen.map(({ organization }) => organization)).toEqual(["org-file", "org-environment"]);
  });
});

test("C38: the variables of `--env` are read, by default those of .env, and the real environment wins", async () => {
  const files = { ".env": "LOOPWRIGHT_AGENT=main-thread\nLOOPWRIGHT_PORT=1\n", "other.env": "LOOPWRIGHT_AGENT=assistant\n" };
  expect((await settingsIn(files)).agentName).toBe("main-thread");
  expect((await settingsIn(files, {}, { LOOPWRIGHT_PORT: "2" })).configuration.values.port).toBe("2");
  const { agentName, configuration } = await settingsIn(files, { env: "other.env" });
  expect([agentName, configuration.values.port]).toEqual(["assistant", undefined]);
});

describe("config", () => {
  const file = ["model:", "  provider: ollama", "store: redis://user:redis-password@127.0.0.1:1", "server:", "  port: 9000", ""].join("\n");
  const secrets = ["canary-token-of-enough-letters", "canary-openai-key", "redis-password"];
  const env = { LOOPWRIGHT_TOKEN: "canary-token-of-enough-letters", OPENAI_API_KEY: "canary-openai-key", LOOPWRIGHT_HOST: "::1" };
  const at = (ended: readonly Ended[], index: number): Ended => ended[index] ?? { code: null, stdout: "", stderr: "" };

  test("print shows where each value came from and no secret; its output is a file that gives the same; validate finds every flaw", async () => {
    const cwd = await emptyDirectory();
    await writeFile(join(cwd, "loopwright.yaml"), file);
    await writeFile(join(cwd, "wrong.yaml"), "stroe: x\nserver: { prot: 1 }\n");
    const ended = await runEach(
      [
        { words: ["config", "print", "--sources", "--role", "server"], env },
        { words: ["config", "print"], env: { ...env, LOOPWRIGHT_STORE: "sessions.db" } },
        { words: ["config", "print", "--sources", "--json"], env },
        { words: ["config", "validate"], env: { ...env, LOOPWRIGHT_PROT: "1" } },
        { words: ["config", "validate", "--config", "wrong.yaml"] },
        { words: ["config", "validate", "--host", "0.0.0.0"] },
        { words: ["sessions", "list", "--config", "wrong.yaml"] },
      ],
      { cwd },
    );
    const shown = at(ended, 0).stdout;
    expect(shown).toMatch(/^model\.provider +ollama +loopwright\.yaml:2$/m);
    expect(shown).toMatch(/^store +redis:\/\/127\.0\.0\.1:1 +loopwright\.yaml:3$/m);
    expect(shown).toMatch(/^server\.host +::1 +LOOPWRIGHT_HOST$/m);
    expect(shown).toMatch(/^server\.role +server +--role$/m);
    expect(shown).toMatch(/^LOOPWRIGHT_TOKEN +\*{8} +LOOPWRIGHT_TOKEN$/m);
    expect(shown).toMatch(/^OPENAI_API_KEY +\*{8} +OPENAI_API_KEY$/m);
    expect(shown).toMatch(/^agent +assistant +default$/m);
    expect(at(ended, 1).stdout).toBe("model:\n  provider: ollama\nstore: sessions.db\nserver:\n  port: 9000\n  host: ::1\n");
    expect(JSON.parse(at(ended, 2).stdout)).toMatchObject({
      options: expect.arrayContaining([{ name: "server.port", value: "9000", source: "loopwright.yaml:5" }]),
    });
    expect(at(ended, 3)).toEqual({
      code: 0,
      stdout: "The configuration is valid.\n",
      stderr: "warning: No setting is read from LOOPWRIGHT_PROT.\n",
    });
    expect(at(ended, 4).code).toBe(3);
    expect(at(ended, 4).stderr).toMatch(/`stroe`[\s\S]+Did you mean `store`\?\n[\s\S]+`server.prot`[\s\S]+Did you mean `server.port`\?\n/);
    expect(at(ended, 5)).toMatchObject({ code: 3, stderr: expect.stringContaining("accepts connections from other machines") });
    expect(at(ended, 6)).toMatchObject({ code: 3, stderr: expect.stringContaining("Did you mean `store`? 1 more flaw is shown by") });
    for (const { stdout, stderr } of ended) for (const secret of secrets) expect(stdout + stderr).not.toContain(secret);
  });
});
