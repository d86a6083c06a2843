import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Ended, emptyDirectory, type RunOptions, run } from "./run-binary.ts";

const passphrase = "five random words of a test";
const canary = "canary-acme-0123456789";

/** A working directory and a home of its own, for commands that share a passphrase. */
async function place(): Promise<{
  readonly cwd: string;
  readonly home: string;
  call(words: string, more?: Partial<RunOptions>): Promise<Ended>;
}> {
  const cwd = await emptyDirectory();
  const home = join(cwd, "home");
  await mkdir(home);
  return {
    cwd,
    home,
    call: (words, { env, ...more } = {}) =>
      run(words.split(" "), { cwd, env: { HOME: home, LOOPWRIGHT_SECRETS_PASSPHRASE: passphrase, ...env }, ...more }),
  };
}

/** A tool whose child process prints the variable. */
const printing = `
import { execFileSync } from "node:child_process";
export const tools = ({ environment, defineTool }) => [
  defineTool({
    name: "print_token",
    description: "Prints a variable.",
    parameters: { type: "object", properties: {} },
    execute: () => {
      const printed = execFileSync("/bin/sh", ["-c", 'printf "%s" "$ACME_API_TOKEN"'], { env: environment }).toString();
      return "length " + printed.length + ", value " + printed + ", own " + (process.env.ACME_API_TOKEN ?? "none");
    },
  }),
];
`;
describe("secrets", () => {
  test("are kept from standard input or a file, listed without values, shown masked or when asked, removed, and their file is encrypted and private", async () => {
    const { cwd, home, call } = await place();
    await writeFile(join(cwd, "value"), "of a file\n");
    expect(await call("secrets set ACME_API_TOKEN", { input: `${canary}\n` })).toMatchObject({ code: 0, stdout: "" });
    expect(await call("secrets set FROM_FILE --file value --global")).toMatchObject({ code: 0 });
    const listed = await call("secrets list", { env: { TAVILY_API_KEY: "canary-of-tavily" } });
    expect(listed.stdout).toBe("ACME_API_TOKEN  local\nFROM_FILE       global\nTAVILY_API_KEY  environment\n");
    const got = await call("secrets get ACME_API_TOKEN");
    expect(got).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\*{8} {2}local {2}.*secrets\.enc\n$/) });
    expect((await call("secrets get ACME_API_TOKEN --reveal")).stdout).toBe(`${canary}\n`);
    expect((await call("secrets get FROM_FILE --reveal")).stdout).toBe("of a file\n");
    expect(await call("secrets rm ACME_API_TOKEN")).toMatchObject({ code: 0 });
    for (const words of ["secrets get ACME_API_TOKEN", "secrets rm ACME_API_TOKEN", "secrets rm NONE --global"])
      expect(await call(words)).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("There is no secret") });
    for (const file of [join(cwd, ".loopwright/secrets.enc"), join(home, ".loopwright/secrets.enc")]) {
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      const text = await readFile(file, "utf8");
      expect(text).toContain('"kdf": "argon2id"');
      expect(text).not.toContain(canary);
    }
    for (const { stdout, stderr } of [listed, got]) expect(stdout + stderr).not.toMatch(/canary|random words/);
  });

  test("are refused without a passphrase, a terminal, a value or a usable name, each time with what to do", async () => {
    const { call } = await place();
    const none = { LOOPWRIGHT_SECRETS_PASSPHRASE: "" };
    expect(await call("secrets set A", { input: "x", env: none })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("LOOPWRIGHT_SECRETS_PASSPHRASE_FILE"),
    });
    expect(await call("secrets set A", { input: "x", env: { LOOPWRIGHT_SECRETS_PASSPHRASE: "short" } })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("fewer than 8"),
    });
    expect(await call("secrets set A", { input: "\n" })).toMatchObject({ code: 3, stderr: expect.stringContaining("--file") });
    expect(await call("secrets set A canary-as-argument", { input: "x" })).toMatchObject({ code: 2 });
    expect(await call("secrets set .A", { input: "x" })).toMatchObject({ code: 2, stderr: expect.stringContaining("1 to 128 letters") });
    expect(await call("secrets rotate")).toMatchObject({ code: 3, stderr: expect.stringContaining("Keep a secret first") });
    expect(await call("secrets set A", { input: "kept" })).toMatchObject({ code: 0 });
    expect(await call("ask --offline hello", { env: none })).toMatchObject({
      code: 3,
      stdout: "",
      stderr: expect.stringContaining("LOOPWRIGHT_SECRETS=false"),
    });
    expect(await call("ask --offline hello", { env: { ...none, LOOPWRIGHT_SECRETS: "false" } })).toMatchObject({ code: 0 });
  });

  test("are encrypted anew under another passphrase, and the earlier one opens nothing", async () => {
    const { cwd, call } = await place();
    await call("secrets set ACME_API_TOKEN", { input: canary });
    await writeFile(join(cwd, "next"), "another long passphrase\n");
    expect(await call("secrets rotate --new-passphrase-file next")).toMatchObject({ code: 0, stdout: "" });
    expect(await call("secrets set B", { input: "b" })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("the passphrase is wrong"),
    });
    const env = { LOOPWRIGHT_SECRETS_PASSPHRASE: "", LOOPWRIGHT_SECRETS_PASSPHRASE_FILE: "next" };
    expect((await call("secrets get ACME_API_TOKEN --reveal", { env })).stdout).toBe(`${canary}\n`);
  });

  test("C16, C17: of a global file that does not open are left out with a warning that has its path, and those of the local file count", async () => {
    const { home, call } = await place();
    await call("secrets set ANTHROPIC_API_KEY --global", { input: "stale", env: { LOOPWRIGHT_SECRETS_PASSPHRASE: "an older passphrase" } });
    await call("secrets set ANTHROPIC_API_KEY", { input: "fresh" });
    const got = await call("secrets get ANTHROPIC_API_KEY --reveal");
    expect(got.stdout).toBe("fresh\n");
    expect(got.stderr).toContain(join(home, ".loopwright/secrets.enc"));
    expect((await call("secrets list")).stdout).toMatch(/^ANTHROPIC_API_KEY +local$/m);
  });

  test("C14, C15, C68: of any name reach the child processes of tools by their environment, and nothing of the transcript, the output or the store has the value", async () => {
    const { cwd, call } = await place();
    await call("secrets set ACME_API_TOKEN", { input: canary });
    await writeFile(join(cwd, "tools.mjs"), printing);
    const asked = await call("ask --offline --tools tools.mjs --json print_token");
    expect(asked.code).toBe(0);
    expect(asked.stdout).toContain(`length ${canary.length}, value [secret ACME_API_TOKEN], own [secret ACME_API_TOKEN]`);
    for (const text of [asked.stdout, asked.stderr, await readFile(join(cwd, ".loopwright/sessions.db"), "latin1")])
      expect(text).not.toContain(canary);
  });

  test("C14, C18: of vendors are found by `ask`, and one value in keys of different services stops the start without showing it", async () => {
    const { call } = await place();
    await call("secrets set ANTHROPIC_API_KEY", { input: canary });
    const refused = await call("ask hello", { env: { SLACK_BOT_TOKEN: canary } });
    expect(refused).toMatchObject({
      code: 3,
      stdout: "",
      stderr: expect.stringContaining("ANTHROPIC_API_KEY and SLACK_BOT_TOKEN have the same value"),
    });
    expect(refused.stderr).not.toContain(canary);
    const asked = await call("ask --provider openai hello");
    expect(asked).toMatchObject({ code: 3, stderr: expect.stringContaining("loopwright secrets set OPENAI_API_KEY") });
  });

  test("C14: count as set in `doctor` and `config`, masked and with their place; a file that stays closed is one line, and one that does not open a finding", async () => {
    const { cwd, home, call } = await place();
    await call("secrets set OPENAI_API_KEY", { input: canary });
    await call("secrets set ACME_API_TOKEN", { input: canary });
    await call("secrets set LOOPWRIGHT_MODEL --global", { input: "canary-model" });
    const [local, global] = [join(cwd, ".loopwright/secrets.enc"), join(home, ".loopwright/secrets.enc")];
    const printed = await call("config print --sources");
    expect(printed).toMatchObject({ code: 0, stderr: "" });
    expect(printed.stdout).toMatch(/^model.provider +openai +OPENAI_API_KEY \(local secrets\)$/m);
    expect(printed.stdout).toMatch(/^OPENAI_API_KEY +\*{8} +OPENAI_API_KEY \(local secrets\)$/m);
    expect(printed.stdout).toMatch(/^ACME_API_TOKEN +\*{8} +ACME_API_TOKEN \(local secrets\)$/m);
    expect(printed.stdout).toMatch(/^model.name +\*{8} +LOOPWRIGHT_MODEL \(global secrets\)$/m);
    const yaml = await call("config print");
    expect(await call("config validate --provider openai")).toMatchObject({ code: 0, stderr: "" });
    const healthy = await call("doctor --provider openai --model m");
    expect(healthy).toMatchObject({ code: 0, stderr: "" });
    expect(healthy.stdout).toContain(`${local} opens, 2 names\n`);
    expect(healthy.stdout).toContain(`${global} opens, 1 name\n`);
    expect(healthy.stdout).toMatch(/^ok +openai .*OPENAI_API_KEY set$/m);

    const none = { LOOPWRIGHT_SECRETS_PASSPHRASE: "" };
    const closed = await call("config print --sources", { env: none });
    expect(closed.code).toBe(0);
    expect(closed.stderr.split("\n")).toEqual([
      expect.stringMatching(/^The file of local secrets .*secrets\.enc: not opened: .*no terminal to ask on.*not set\.$/),
      expect.stringContaining("The file of global secrets"),
      "",
    ]);
    expect(closed.stdout).toMatch(/^model.provider +offline/m);
    const unasked = await call("doctor --offline", { env: none });
    expect(unasked).toMatchObject({ code: 0, stderr: "" });
    expect(unasked.stdout).toMatch(/^- +local secrets .*secrets\.enc not opened: .*not set$/m);

    const wrong = await call("doctor --offline", { env: { LOOPWRIGHT_SECRETS_PASSPHRASE: "another passphrase" } });
    expect(wrong.code).toBe(1);
    expect(wrong.stdout).toMatch(/^BAD +local secrets .*secrets\.enc does not open: .*passphrase is wrong/m);

    const reused = { SLACK_BOT_TOKEN: canary };
    const doubled = await call("doctor --offline", { env: reused });
    expect(doubled).toMatchObject({ code: 1, stdout: expect.stringContaining("OPENAI_API_KEY and SLACK_BOT_TOKEN have the same value") });
    expect(await call("config validate --offline", { env: reused })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("OPENAI_API_KEY and SLACK_BOT_TOKEN have the same value"),
    });
    for (const { stdout, stderr } of [printed, yaml, healthy, closed, unasked, wrong, doubled])
      expect(stdout + stderr).not.toMatch(/canary|random words/);
  }, 60_000);
});
