import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { parseConfigFile } from "./config-file.ts";

const parsed = (text: string): ReturnType<typeof parseConfigFile> => parseConfigFile(text, "loopwright.yaml");
const flawsOf = async (text: string): Promise<readonly string[]> =>
  (await parsed(text)).flaws.map(({ message, fix }) => `${message} ${fix}`);

describe("a file of settings", () => {
  test("gives each value with its line, in the type of its option", async () => {
    const text = [
      "model:",
      "  provider: anthropic",
      "  name: claude",
      "store: sessions.db",
      "artifacts: yes",
      "server:",
      "  port: 9000",
      "  allow_hosts: [a.example, b.example]",
      "  models: [one, two]",
      "telemetry: { file: true }",
      "agent:",
    ].join("\n");
    const { level, flaws } = await parsed(text.replace("yes", "true"));
    expect(flaws).toEqual([]);
    expect(level.values).toEqual({
      provider: "anthropic",
      model: "claude",
      store: "sessions.db",
      artifacts: true,
      port: "9000",
      allowHost: ["a.example", "b.example"],
      models: "one,two",
      telemetry: true,
    });
    expect(level.sources).toMatchObject({ provider: "loopwright.yaml:2", port: "loopwright.yaml:7", telemetry: "loopwright.yaml:10" });
  });

  test.each([
    ["an unknown key", "stroe: a.db", "There is no setting `stroe` (loopwright.yaml:1). Did you mean `store`?"],
    ["a letter too many", "storee: a.db", "There is no option `storee` of loopwright.yaml:1. Did you mean `store`?"],
    [
      "an unknown key of a section",
      "server:\n  prot: 1",
      "There is no setting `server.prot` (loopwright.yaml:2). Did you mean `server.port`?",
    ],
    ["a key of another section", "port: 1", "There is no setting `port` (loopwright.yaml:1). Did you mean `server.port`?"],
    ["an unknown section", "modell: { name: x }", "There is no option `modell` of loopwright.yaml:1. Did you mean `model`?"],
    ["a key that is taken from the prototype of objects", "__proto__: { a: 1 }", "There is no option `__proto__`"],
    ["a section without settings", "server: 8080", "`server` of loopwright.yaml:1 is a section"],
    ["a secret", "server:\n  token: abc", "is a secret, and the file takes none. Set LOOPWRIGHT_TOKEN, or LOOPWRIGHT_TOKEN_FILE"],
    [
      "a number out of range",
      "server: { port: 70000 }",
      "`server.port` of loopwright.yaml:1 is `70000`, and it is a number. Set one from 0 to 65535.",
    ],
    ["a switch that is none", "artifacts: maybe", "is `maybe`, and it is a switch"],
    [
      "a value that is none of several",
      "model: { provider: opnai }",
      "is `opnai`, and that is none of its values. Set one of these: openai,",
    ],
    ["a list where a text is wanted", "store: [a]", "`store` of loopwright.yaml:1 is a list."],
    ["a key that stands twice", "store: a\nstore: b", "`loopwright.yaml`, line 2, is no valid YAML (DUPLICATE_KEY)."],
    ["a line that is no YAML", "model: [", "is no valid YAML"],
    ["a text", "hello", "holds no settings by their names"],
    ["a file that is too large", `# ${"x".repeat(300_000)}`, "is larger than 256 KiB"],
  ])("is refused for %s, with the place and what to do", async (_, text, expected) => {
    const flaws = await flawsOf(text);
    expect(flaws).toHaveLength(1);
    expect(flaws[0]).toContain(expected);
  });

  test("shows every flaw at once, and no value of a secret", async () => {
    const flaws = await flawsOf("stroe: a\nserver:\n  token: very-secret-token\n  port: x\n");
    expect(flaws).toHaveLength(3);
    expect(flaws.join()).not.toContain("very-secret-token");
  });

  test("refuses aliases, which could grow without bounds", async () => {
    expect(await flawsOf("store: &a x\nagent: *a")).toEqual([expect.stringContaining("uses an alias")]);
  });

  test("may be empty", async () => {
    for (const text of ["", "# nothing\n", "---\n"]) expect(await parsed(text)).toEqual({ level: { values: {}, sources: {} }, flaws: [] });
  });
});

test("the file that docs/operate.md shows is valid", async () => {
  const page = await readFile(new URL("../../../../docs/operate.md", import.meta.url), "utf8");
  const shown = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text]) => text ?? "");
  expect(shown).not.toEqual([]);
  for (const text of shown) expect(await parsed(text)).toMatchObject({ flaws: [] });
});
