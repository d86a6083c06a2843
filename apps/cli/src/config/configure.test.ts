import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { levelOfEnvironment, levelOfFlags } from "./config-level.ts";
import { configure, loadConfiguration } from "./configure.ts";
import { loadEnvironment } from "./environment.ts";
import { options } from "./options.ts";
import { readValue, shownValue } from "./read-value.ts";
import { variableNames } from "./variables.ts";

const folder = (files: Readonly<Record<string, string>>): Promise<string> =>
  mkdtemp(join(tmpdir(), "loopwright-config-")).then(async (directory) => {
    for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
    return directory;
  });

describe("the table of options", () => {
  test("names each option, variable and key once, and each option has a source", () => {
    for (const part of ["name", "variable", "key", "flag"] as const) {
      const names = options.flatMap((option) => option[part] ?? []);
      expect(new Set(names).size, part).toBe(names.length);
    }
    expect(options.filter(({ flag, variable, key }) => flag === undefined && variable === undefined && key === undefined)).toEqual([]);
    expect(new Set(variableNames).size).toBe(variableNames.length);
  });
});

describe("several sources", () => {
  const file = (values: object): ReturnType<typeof levelOfFlags> => ({
    values,
    sources: Object.fromEntries(Object.keys(values).map((name) => [name, "file"])),
  });

  test("give each value by the strongest: flags, then variables, then the file", () => {
    const flags = levelOfFlags({ port: "1", unknown: "x" });
    const environment = levelOfEnvironment({ LOOPWRIGHT_PORT: "2", LOOPWRIGHT_HOST: "::1" });
    const { values, sources } = configure([flags, environment, file({ port: "3", host: "h", role: "all" })]);
    expect(values).toEqual({ port: "1", host: "::1", role: "all" });
    expect(sources).toEqual({ port: "--port", host: "LOOPWRIGHT_HOST", role: "file" });
  });

  test("choose a provider without the model and the address of the one that a weaker source names", () => {
    const weak = file({ provider: "openai", model: "gpt", baseUrl: "http://a" });
    expect(configure([levelOfFlags({ provider: "anthropic" }), weak]).values).toEqual({ provider: "anthropic" });
    expect(configure([levelOfFlags({ provider: "openai" }), weak]).values).toMatchObject({ model: "gpt", baseUrl: "http://a" });
    expect(configure([levelOfFlags({ offline: true }), weak]).values).toEqual({ offline: true });
    expect(configure([levelOfFlags({ provider: "anthropic" }), file({ model: "any" })]).values).toMatchObject({ model: "any" });
  });

  test("let one Redis stand for what is not named beside it, before what a weaker source names", () => {
    const environment = levelOfEnvironment({ LOOPWRIGHT_STORE: "a.db", LOOPWRIGHT_QUEUE: "redis://q" });
    expect(configure([levelOfFlags({ redis: "redis://r", channel: "redis://c" }), environment]).values).toMatchObject({
      store: "redis://r",
      channel: "redis://c",
      queue: "redis://r",
    });
  });
});

describe("variables", () => {
  test("are checked by their names", () => {
    expect(() => levelOfEnvironment({ LOOPWRIGHT_PORT: "web" })).toThrow("LOOPWRIGHT_PORT is `web`, and it is a number.");
    expect(() => levelOfEnvironment({ LOOPWRIGHT_ARTIFACTS: "maybe" })).toThrow("LOOPWRIGHT_ARTIFACTS is `maybe`, and it is a switch.");
    expect(() => levelOfEnvironment({ LOOPWRIGHT_REDIS: "redis:/secret" })).toThrow(
      /^The address of LOOPWRIGHT_REDIS is not that of a Redis\.$/,
    );
  });

  test("of a service of Kubernetes that has our name are no settings", () => {
    expect(levelOfEnvironment({ LOOPWRIGHT_PORT: "tcp://10.0.0.1:8080" }).values).toEqual({});
  });

  test("may be given as files, by their names and `_FILE`", async () => {
    const directory = await folder({
      key: "sk-from-file\n",
      ".env": "LOOPWRIGHT_TOKEN_FILE=token\nANTHROPIC_API_KEY=a\n",
      token: "a-token-of-enough-letters",
    });
    const { environment, sources, sourceOf } = await loadConfiguration({ flags: {}, real: { OPENAI_API_KEY_FILE: "key" }, directory });
    expect(environment).toMatchObject({ OPENAI_API_KEY: "sk-from-file", LOOPWRIGHT_TOKEN: "a-token-of-enough-letters" });
    expect(sources.token).toBe("LOOPWRIGHT_TOKEN_FILE (.env)");
    expect(sourceOf("OPENAI_API_KEY")).toBe("OPENAI_API_KEY_FILE");
  });

  test.each([
    ["both ways", { OPENAI_API_KEY: "x", OPENAI_API_KEY_FILE: "key" }, "OPENAI_API_KEY and OPENAI_API_KEY_FILE are both set."],
    ["by a file that is absent", { OPENAI_API_KEY_FILE: "gone" }, "The file `gone` of OPENAI_API_KEY_FILE cannot be read."],
    ["by an empty file", { OPENAI_API_KEY_FILE: "empty" }, "The file `empty` of OPENAI_API_KEY_FILE is empty."],
    ["by a folder", { OPENAI_API_KEY_FILE: "." }, "cannot be read"],
  ])("are refused that are given %s", async (_, real, message) => {
    const directory = await folder({ key: "k", empty: "\n" });
    await expect(loadEnvironment(real, { directory })).rejects.toThrow(message);
  });

  test("of the process win over the same one as a file of .env", async () => {
    const directory = await folder({ ".env": "OPENAI_API_KEY_FILE=key\n", key: "file" });
    expect((await loadEnvironment({ OPENAI_API_KEY: "real" }, { directory }))["OPENAI_API_KEY"]).toBe("real");
  });
});

describe("the file of settings", () => {
  test("is found in the working directory, or where it is named, and must be there if it is named", async () => {
    const directory = await folder({ "loopwright.yaml": "agent: a", "other.yaml": "agent: b" });
    const agentOf = async (flags: object, real = {}): Promise<unknown> =>
      (await loadConfiguration({ flags, real, directory })).values.agent;
    expect(await agentOf({})).toBe("a");
    expect(await agentOf({ config: "other.yaml" })).toBe("b");
    expect(await agentOf({}, { LOOPWRIGHT_CONFIG: "other.yaml" })).toBe("b");
    await expect(agentOf({ config: "gone.yaml" })).rejects.toThrow("The file of settings `gone.yaml` does not exist.");
  });

  test("is refused with its first flaw and the number of the others", async () => {
    const directory = await folder({ "loopwright.yaml": "a: 1\nstroe: x\nc: 2\n" });
    const refused = loadConfiguration({ flags: {}, real: {}, directory });
    await expect(refused).rejects.toMatchObject({
      fix: expect.stringContaining("2 more flaws are shown by `loopwright config validate`."),
    });
  });
});

test("values are shown without secrets and without passwords of addresses", () => {
  const [token, store] = ["token", "store"].map((name) => options.find((option) => option.name === name));
  if (!token || !store) throw new Error("There are no such options.");
  expect(shownValue(token, "very-secret")).toBe("********");
  expect(shownValue(store, "redis://user:password@host:1/2")).toBe("redis://host:1/2");
  expect(shownValue(store, "sessions.db")).toBe("sessions.db");
  expect(readValue(store, "a", "x")).toBe("a");
});
