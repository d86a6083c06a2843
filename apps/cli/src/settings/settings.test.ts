import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAgentError } from "@loopwright/core";
import { describe, expect, test } from "vitest";
import { type Environment, loadEnvironment } from "../config/environment.ts";
import { keyOf } from "./key-of.ts";
import { type ModelFlags, resolveSettings } from "./settings.ts";

const chosen = (flags: ModelFlags, environment: Environment): string => resolveSettings(flags, environment, "/project").vendor.name;
const all = { LOOPWRIGHT_MODEL_PROVIDER: "gemini", OPENAI_API_KEY: "o", ANTHROPIC_API_KEY: "a", OLLAMA_HOST: "h" };

function errorOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("the vendor", () => {
  test("is the flag's, then the variable's, then that of the keys in their order, then the offline model", () => {
    expect(chosen({ provider: "ollama" }, all)).toBe("ollama");
    expect(chosen({ offline: true }, all)).toBe("offline");
    expect(chosen({}, all)).toBe("gemini");
    const { LOOPWRIGHT_MODEL_PROVIDER: _, ...keys } = all;
    expect(chosen({}, keys)).toBe("openai");
    expect(chosen({}, { ...keys, OPENAI_API_KEY: undefined })).toBe("anthropic");
    expect(chosen({}, { GOOGLE_API_KEY: "g", OLLAMA_HOST: "h" })).toBe("gemini");
    expect(chosen({}, { OLLAMA_HOST: "h" })).toBe("ollama");
    expect(chosen({}, {})).toBe("offline");
  });

  test("that is unknown is refused with the known names", () => {
    const error = errorOf(() => resolveSettings({ provider: "opnai" }, {}, "/project"));
    expect(isAgentError(error, "CONFIG_INVALID") && `${error.message} ${error.fix}`).toBe(
      "There is no provider `opnai` (--provider). Choose one of: openai, anthropic, gemini, ollama, custom, executor, offline.",
    );
  });

  test("`custom` wants a base URL and a model", () => {
    expect(
      isAgentError(
        errorOf(() => chosen({ provider: "custom" }, {})),
        "CONFIG_INVALID",
      ),
    ).toBe(true);
    expect(chosen({ provider: "custom", baseUrl: "http://localhost:1/v1", model: "m" }, {})).toBe("custom");
  });

  test.each(["openai", "anthropic", "gemini", "ollama"])(
    "`%s` at another address wants a model, whose name is not the vendor's default",
    (provider) => {
      const refused = errorOf(() => chosen({ provider, baseUrl: "http://localhost:1/v1" }, {}));
      expect(isAgentError(refused, "CONFIG_INVALID") && refused.fix).toBe("Pass `--model <name>`, or set LOOPWRIGHT_MODEL.");
      expect(
        isAgentError(
          errorOf(() => chosen({ provider }, { LOOPWRIGHT_BASE_URL: "http://localhost:1" })),
          "CONFIG_INVALID",
        ),
      ).toBe(true);
      expect(chosen({ provider, baseUrl: "http://localhost:1/v1" }, { LOOPWRIGHT_MODEL: "m" })).toBe(provider);
    },
  );

  test("a base URL is not dropped where the offline model would answer, unless a flag asks for that model", () => {
    const refused = (flags: ModelFlags, environment: Environment): boolean =>
      isAgentError(
        errorOf(() => chosen(flags, environment)),
        "CONFIG_INVALID",
      );
    const variable = { LOOPWRIGHT_BASE_URL: "http://localhost:1/v1" };
    expect(refused({ baseUrl: "http://localhost:1/v1", model: "m" }, {})).toBe(true);
    expect(refused({ baseUrl: "http://localhost:1/v1", offline: true }, {})).toBe(true);
    expect(refused({}, variable)).toBe(true);
    expect(refused({ offline: true }, variable)).toBe(false);
  });

  test("a named model is not answered for by the offline model, unless a flag asks for that and none names another", () => {
    const refusal = (flags: ModelFlags, environment: Environment): unknown => errorOf(() => chosen(flags, environment));
    expect(refusal({ model: "nosuch:thing" }, {})).toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("`nosuch:thing`"),
      fix: expect.stringContaining("--provider"),
    });
    expect(refusal({ model: "gpt-4o", offline: true }, {})).toMatchObject({ code: "CONFIG_INVALID" });
    expect(refusal({}, { LOOPWRIGHT_MODEL: "gpt-4o" })).toMatchObject({ code: "CONFIG_INVALID" });
    expect(chosen({ offline: true }, { LOOPWRIGHT_MODEL: "gpt-4o" })).toBe("offline");
    expect(chosen({ model: "offline-demo" }, {})).toBe("offline");
    expect(chosen({ model: "nosuch:thing" }, { OLLAMA_HOST: "h" })).toBe("ollama");
  });

  test("is refused with the reason", () => {
    expect(resolveSettings({}, { GEMINI_API_KEY: "g" }, "/project").because).toBe("GEMINI_API_KEY");
    expect(resolveSettings({}, {}, "/project").because).toBe("no key is set (OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY)");
  });
});

test("model, base URL and store come from the flags, then from the environment", () => {
  const environment = { LOOPWRIGHT_MODEL: "m1", LOOPWRIGHT_BASE_URL: "http://one.example", LOOPWRIGHT_STORE: "one.db" };
  expect(resolveSettings({ provider: "custom" }, environment, "/project")).toMatchObject({
    model: "m1",
    baseUrl: "http://one.example",
    store: { kind: "sqlite", file: "/project/one.db" },
  });
  const flags = { provider: "custom", model: "m2", baseUrl: "http://two.example", store: "/two.db" };
  expect(resolveSettings(flags, environment, "/project")).toMatchObject({
    model: "m2",
    baseUrl: "http://two.example",
    store: { kind: "sqlite", file: "/two.db" },
  });
  expect(resolveSettings({}, {}, "/project").store).toEqual({ kind: "sqlite", file: "/project/.loopwright/sessions.db" });
});

test.each(["not a url", "ftp://x", "file:///etc/passwd", "javascript:alert(1)"])("`%s` is no base URL", (baseUrl) => {
  expect(
    isAgentError(
      errorOf(() => resolveSettings({ baseUrl }, {}, "/project")),
      "CONFIG_INVALID",
    ),
  ).toBe(true);
});

test("an address for all three that is not that of a Redis is complained of by the name it was given, and never made a file", () => {
  for (const redis of ["nonsense", "http://127.0.0.1:1"]) {
    expect(errorOf(() => resolveSettings({ redis }, {}, "/project"))).toMatchObject({
      code: "CONFIG_INVALID",
      message: "The address of `--redis` is not that of a Redis.",
    });
    expect(errorOf(() => resolveSettings({}, { LOOPWRIGHT_REDIS: redis }, "/project"))).toMatchObject({
      message: "The address of LOOPWRIGHT_REDIS is not that of a Redis.",
    });
  }
});

test("the first key variable that is set counts, and blank ones are not set", () => {
  const { vendor } = resolveSettings({ provider: "gemini" }, {}, "/project");
  expect(keyOf(vendor, { GEMINI_API_KEY: " ", GOOGLE_API_KEY: " g " })).toEqual({ variable: "GOOGLE_API_KEY", value: "g" });
  expect(keyOf(vendor, {})).toBeUndefined();
});

describe("the environment file", () => {
  test("gives what the real environment does not have", async () => {
    const directory = await mkdtemp(join(tmpdir(), "loopwright-"));
    await writeFile(join(directory, ".env"), 'A=file\nB="from file"\nEMPTY=\n');
    expect(await loadEnvironment({ A: "real", C: "" }, { directory })).toEqual({ A: "real", B: "from file" });
  });

  test("may be missing unless it was named", async () => {
    const directory = await mkdtemp(join(tmpdir(), "loopwright-"));
    expect(await loadEnvironment({ A: "1" }, { directory })).toEqual({ A: "1" });
    const error: unknown = await loadEnvironment({}, { directory, file: "gone.env" }).catch((reason: unknown) => reason);
    expect(isAgentError(error, "CONFIG_INVALID")).toBe(true);
  });
});
