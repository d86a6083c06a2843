import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { loadSkills } from "@loopwright/skills";
import { describe, expect, onTestFinished, test } from "vitest";
import { atTerminal } from "./at-terminal.ts";
import { type Ended, emptyDirectory, run, runAll, start } from "./run-binary.ts";

const key = "canary-key-of-a-vendor-0123456789";
const passphrase = "five random words of a test";

const read = (...path: readonly string[]): Promise<string> => readFile(join(...path), "utf8");

/** Every file below a folder with its text. */
async function texts(folder: string): Promise<Readonly<Record<string, string>>> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(await Promise.all(paths.map(async (path) => [path.slice(folder.length + 1), await read(path)])));
}

describe("init without a terminal", () => {
  test("C71: makes a folder whose settings are valid, whose skill can be used, and in which `run` serves", async () => {
    const asked: string[] = [];
    const vendor = createServer(async (request, response) => {
      for await (const _ of request);
      asked.push(`${request.url} ${request.headers.authorization}`);
      response.writeHead(401, { "Content-Type": "application/json" }).end('{"error":{"message":"refused"}}');
    });
    await new Promise<void>((resolve) => vendor.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void vendor.close());
    const cwd = await emptyDirectory();
    await writeFile(join(cwd, "key"), `${key}\n`);
    const address = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}/v1`;
    const env = { LOOPWRIGHT_SECRETS_PASSPHRASE: passphrase };
    const made = await run(
      ["init", "greeter", "--provider", "openai", "--model", "m: 1", "--base-url", address, "--key-file", "key", "--dotenv"],
      { cwd, env },
    );
    expect(made).toMatchObject({ code: 0, stderr: "" });
    expect(made.stdout).toMatch(/\nNext: cd greeter && loopwright run\n$/);
    const folder = join(cwd, "greeter");
    const files = await texts(folder);
    expect(
      Object.keys(files)
        .filter((path) => !path.endsWith(".lock"))
        .sort(),
    ).toEqual([
      ".env",
      ".env.example",
      ".gitignore",
      ".loopwright/secrets.enc",
      "loopwright.yaml",
      "skills/word-count/SKILL.md",
      "skills/word-count/scripts/count_words.mjs",
    ]);
    expect(JSON.stringify(files) + made.stdout).not.toContain(key);
    for (const path of [".env", ".loopwright/secrets.enc"]) expect((await stat(join(folder, path))).mode & 0o777).toBe(0o600);
    expect(files[".gitignore"]).toBe(".env\n.loopwright/\n");
    expect((await loadSkills(join(folder, "skills"))).map(({ name }) => name)).toEqual(["word-count"]);
    const [validated, printed] = await runAll(
      [
        ["config", "validate"],
        ["config", "print"],
      ],
      { cwd: folder, env },
    );
    expect(validated).toMatchObject({ code: 0, stdout: "The configuration is valid.\n" });
    expect(printed?.stdout).toContain(`name: "m: 1"`);
    const served = start(["run", "--port", "0"], { cwd: folder, env: { ...env, HOME: folder } });
    onTestFinished(() => void served.child.kill("SIGKILL"));
    const [url = ""] = /http:\/\/127\.0\.0\.1:\d+/.exec(await served.prints("http://127.0.0.1:")) ?? [];
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const answer = await run(["ask", "--url", url, "hello"], { cwd: folder });
    expect(answer.code).toBe(3);
    expect(asked[0]).toBe(`/v1/chat/completions Bearer ${key}`);
  });

  test("C71: names no provider that was not chosen, and writes no .env that was not asked for", async () => {
    const cwd = await emptyDirectory();
    const [made] = await runAll([["init", "plain"]], { cwd });
    expect(made).toMatchObject({ code: 0, stderr: "" });
    const files = await texts(join(cwd, "plain"));
    expect(Object.keys(files)).not.toContain(".env");
    expect(files["loopwright.yaml"]).not.toMatch(/^model:/m);
    const [printed, keyed] = await runAll(
      [
        ["config", "print"],
        ["doctor", "--offline"],
      ],
      { cwd: join(cwd, "plain") },
    );
    expect(printed?.stdout).toBe("skills: skills\n");
    expect(keyed).toMatchObject({ code: 0 });
  });

  test("C71: refuses a folder that is there, flags that do not fit and keys that have no place, and writes nothing then", async () => {
    const cwd = await emptyDirectory();
    await mkdir(join(cwd, "there"));
    await writeFile(join(cwd, "there/loopwright.yaml"), "agent: assistant\n");
    await writeFile(join(cwd, "key"), key);
    await writeFile(join(cwd, "empty"), "\n");
    const cases: readonly (readonly [words: string, complaint: string, code?: number])[] = [
      ["init there", "`there` is there already"],
      ["init there --existing", "The folder has loopwright.yaml already"],
      ["init", "No folder is named", 2],
      ["init new --provider opneai", "There is no provider `opneai`"],
      ["init new --provider custom", "needs to know where its server is"],
      ["init new --base-url nothing --model m", "no http or https address"],
      ["init new --key-file key", "no provider that takes one"],
      ["init new --provider openai --key-file none", "`none` cannot be read"],
      ["init new --provider openai --key-file empty", "is empty"],
      ["init new --provider openai --key-file key", "needs its passphrase"],
    ];
    const ended: readonly Ended[] = await runAll(
      cases.map(([words]) => words.split(" ")),
      { cwd },
    );
    for (const [at, [, complaint, code = 3]] of cases.entries())
      expect(ended[at]).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(complaint) });
    expect(JSON.stringify(ended)).not.toContain(key);
    expect(await texts(cwd)).toEqual({ "there/loopwright.yaml": "agent: assistant\n", key, empty: "\n" });
    expect(await readdir(cwd)).not.toContain("new");
  });

  test("C71: makes the agent in a folder that is there where that is wanted, beside the files that it has", async () => {
    const cwd = await emptyDirectory();
    await writeFile(join(cwd, "notes.txt"), "kept");
    const [made] = await runAll([["init", ".", "--existing", "--provider", "offline"]], { cwd });
    expect(made).toMatchObject({ code: 0 });
    const files = await texts(cwd);
    expect(files["notes.txt"]).toBe("kept");
    expect(files["loopwright.yaml"]).toMatch(/^ {2}provider: offline$/m);
  });
});

describe("init at a terminal", () => {
  test("C71: asks for what no flag gives, asks again for an answer that cannot be used, and shows neither key nor passphrase", async () => {
    const cwd = await emptyDirectory();
    const { code, shown } = await atTerminal(["init"], cwd, [
      ["Folder of the agent: ", "asked"],
      ["Provider [offline]: ", "9"],
      ["Provider [offline]: ", "anthropic"],
      ["Model [the default of the provider]: ", ""],
      ["Key of Anthropic, kept encrypted [none now]: ", key],
      ["New passphrase of", "short"],
      ["New passphrase of", passphrase],
      ["The same again: ", "another one"],
      ["New passphrase of", passphrase],
      ["The same again: ", passphrase],
    ]);
    expect(code).toBe(0);
    expect(shown).toContain("Answer a number from 1 to 6");
    expect(shown).toContain("could be guessed");
    expect(shown).toContain("passphrases differ");
    expect(shown).not.toContain("canary");
    expect(shown).not.toContain(passphrase);
    const files = await texts(join(cwd, "asked"));
    expect(files["loopwright.yaml"]).toMatch(/^ {2}provider: anthropic$/m);
    expect(JSON.stringify(files)).not.toContain(key);
    const kept = await run(["secrets", "get", "ANTHROPIC_API_KEY", "--reveal"], {
      cwd: join(cwd, "asked"),
      env: { LOOPWRIGHT_SECRETS_PASSPHRASE: passphrase },
    });
    expect(kept.stdout).toBe(`${key}\n`);
  });

  test("C71: overwrites a file only after a yes, and leaves the folder alone after a no", async () => {
    const cwd = await emptyDirectory();
    await writeFile(join(cwd, "loopwright.yaml"), "mine\n");
    await writeFile(join(cwd, ".gitignore"), "mine\n");
    const words = ["init", ".", "--provider", "offline"];
    expect(await atTerminal(words, cwd, [["Make the agent in it? [y/N] ", "n"]])).toMatchObject({ code: 3 });
    expect(await texts(cwd)).toEqual({ "loopwright.yaml": "mine\n", ".gitignore": "mine\n" });
    const { code } = await atTerminal(words, cwd, [
      ["Make the agent in it? [y/N] ", "y"],
      ["loopwright.yaml is there already. Overwrite it? [y/N] ", "yes"],
      [".gitignore is there already. Overwrite it? [y/N] ", ""],
    ]);
    expect(code).toBe(0);
    expect(await read(cwd, ".gitignore")).toBe("mine\n");
    expect(await read(cwd, "loopwright.yaml")).toContain("provider: offline");
  });
});
