import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { appendFile, mkdir, stat, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { commandLine, type Ended, emptyDirectory, type RunOptions, run, start } from "./run-binary.ts";

const fewDescriptors = fileURLToPath(new URL("few-descriptors.ts", import.meta.url));

interface State {
  readonly pid: number;
  readonly identity: string;
  readonly url: string;
}

interface Place {
  readonly cwd: string;
  readonly log: string;
  /** `loopwright serve` with these words. */
  serve(words: string, more?: Partial<RunOptions>): Promise<Ended>;
  state(): State;
}

/** A working directory whose server in the background is killed when the test is over. */
async function place(): Promise<Place> {
  const cwd = await emptyDirectory();
  const file = join(cwd, ".loopwright/serve.json");
  const state = (): State => JSON.parse(readFileSync(file, "utf8")) as State;
  onTestFinished(async () => {
    if (existsSync(file)) await run(["serve", "stop", "--timeout", "0"], { cwd });
  });
  const serve: Place["serve"] = (words, more = {}) => run(["serve", ...words.split(" ").filter(Boolean)], { cwd, ...more });
  return { cwd, log: join(cwd, ".loopwright/serve.log"), serve, state };
}

/** Whether something listens there. */
const connects = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (isOpen: boolean): void => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once("connect", () => end(true)).once("error", () => end(false));
  });

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

describe("serve", () => {
  test("C41, C42, C44, C46: starts `run` in a session of its own, once, and reports on it until it is stopped", async () => {
    const { cwd, log, serve, state } = await place();
    const started = await serve("--offline --port 0");
    expect(started).toMatchObject({ code: 0, stdout: expect.stringContaining("serves in the background at http://127.0.0.1:") });
    const { pid, url } = state();
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    // The session and the group of a process are the fourth and third field behind its name.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
    expect([fields[2], fields[3]]).toEqual([`${pid}`, `${pid}`]);
    expect([await modeOf(join(cwd, ".loopwright/serve.json")), await modeOf(log)]).toEqual(["600", "600"]);
    expect(await serve("start --offline --port 0")).toMatchObject({ code: 3, stderr: expect.stringContaining(`process ${pid} at ${url}`) });
    const status = await serve("status");
    expect(status).toMatchObject({ code: 0 });
    expect(status.stdout).toMatch(new RegExp(`^process: ${pid}\naddress: ${url}\nhealth: ready\nuptime: .*\\d+ s\n$`));
    expect(JSON.parse((await serve("status --json")).stdout)).toMatchObject({ isRunning: true, pid, url, health: "ready" });
    expect((await serve("logs")).stdout).toContain("Loopwright serves");
    expect(await serve("stop")).toMatchObject({ code: 0, stderr: `Stopped (process ${pid}).\n` });
    expect(isAlive(pid)).toBe(false);
    expect(existsSync(join(cwd, ".loopwright/serve.json"))).toBe(false);
    expect((await serve("logs")).stdout).toMatch(/Stopped\.\n$/);
    expect(await serve("status")).toMatchObject({ code: 1, stdout: "not running\n" });
    expect(await serve("stop")).toMatchObject({ code: 0, stderr: expect.stringContaining("No server runs") });
  });

  test("C42, C33: answers at the address of this machine alone, and at its other addresses only where it is given them and a token", async () => {
    const others = Object.values(networkInterfaces()).flatMap((list = []) => list.filter(({ family }) => family === "IPv4"));
    // A second address of the loopback interface is one that every machine with Linux has.
    const addresses = ["127.0.0.2", ...others.map(({ address }) => address).filter((address) => address !== "127.0.0.1")];
    const { serve, state } = await place();
    await serve("start --offline --port 0");
    const { port } = new URL(state().url);
    for (const address of addresses) expect([address, await connects(address, Number(port))]).toEqual([address, false]);
    await serve("stop");
    const env = { LOOPWRIGHT_TOKEN: "a-token-of-enough-characters" };
    expect(await serve("start --offline --port 0 --host 0.0.0.0")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("--insecure"),
    });
    expect(await serve("start --offline --port 0 --host 0.0.0.0", { env })).toMatchObject({ code: 0 });
    for (const address of addresses) expect([address, await connects(address, Number(new URL(state().url).port))]).toEqual([address, true]);
  });

  test("C43: kills a process that does not end in time, and removes what was kept of it", async () => {
    const { cwd, serve, state } = await place();
    await serve("start --offline --port 0");
    const { pid } = state();
    // A process that is stopped takes no SIGTERM.
    process.kill(pid, "SIGSTOP");
    expect(await serve("stop --timeout 1")).toMatchObject({ code: 0, stderr: expect.stringContaining("had not ended after 1 s") });
    expect(isAlive(pid)).toBe(false);
    expect(existsSync(join(cwd, ".loopwright/serve.json"))).toBe(false);
  });

  test("C44: takes neither a dead process nor another one that got its number for its own", async () => {
    const { cwd, serve, state } = await place();
    await serve("start --offline --port 0");
    const first = state();
    process.kill(first.pid, "SIGKILL");
    await expect.poll(() => isAlive(first.pid), { timeout: 30_000 }).toBe(false);
    expect(await serve("status")).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(`process ${first.pid} has ended without a word`),
    });
    // A process that lives, and began at another time.
    const other = spawn("sleep", ["600"]);
    onTestFinished(() => void other.kill("SIGKILL"));
    writeFileSync(join(cwd, ".loopwright/serve.json"), JSON.stringify({ ...first, pid: other.pid }));
    expect(await serve("status")).toMatchObject({ code: 1 });
    expect(await serve("start --offline --port 0")).toMatchObject({ code: 0 });
    expect(state().pid).not.toBe(other.pid);
    expect(isAlive(other.pid ?? 0)).toBe(true);
    expect(await serve("stop")).toMatchObject({ code: 0 });
    writeFileSync(join(cwd, ".loopwright/serve.json"), JSON.stringify({ ...first, pid: other.pid }));
    expect(await serve("stop")).toMatchObject({ code: 0, stderr: expect.stringContaining("No server runs") });
    expect(isAlive(other.pid ?? 0)).toBe(true);
  });

  test("C45: prints the last 100 lines of the log, and follows what is added", async () => {
    const { cwd, log, serve } = await place();
    await mkdir(join(cwd, ".loopwright"));
    await writeFile(log, Array.from({ length: 150 }, (_, n) => `line ${n + 1}\n`).join(""));
    const shown = (await serve("logs")).stdout.trimEnd().split("\n");
    expect([shown.length, shown[0], shown.at(-1)]).toEqual([100, "line 51", "line 150"]);
    const following = start(["serve", "logs", "-f", "--lines", "1"], { cwd });
    onTestFinished(() => void following.child.kill("SIGKILL"));
    await following.prints("line 150\n");
    await appendFile(log, "added \u001b[2J\npart of a ");
    await following.prints("added");
    await appendFile(log, "line\n");
    expect(await following.prints("part of a line\n")).not.toContain("\u001b");
    await writeFile(log, "of a new file\n");
    await following.prints("of a new file\n");
    following.child.kill("SIGINT");
    expect((await following.ended).code).toBe(0);
  });

  test("ends with the exit code and the last words of a process that could not start, and keeps nothing of it", async () => {
    const { cwd, serve } = await place();
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as { readonly port: number };
    const refused = await serve(`start --offline --port ${port}`);
    expect(refused).toMatchObject({ code: 3, stdout: "", stderr: expect.stringContaining(`Port ${port} is taken`) });
    expect(existsSync(join(cwd, ".loopwright/serve.json"))).toBe(false);
    expect(await serve("start --offline --role none")).toMatchObject({ code: 3, stderr: expect.not.stringContaining("its log") });
    expect(await serve("child")).toMatchObject({ code: 3, stderr: expect.stringContaining("serve start") });
  });

  test("is refused with its reason where this process may open no further file, at whichever step that is", async () => {
    const cwd = await emptyDirectory();
    const restricted = { prefix: ["sh", "-c", 'ulimit -n 200; exec "$@"', "sh"] };
    const { stdout, stderr } = await run(["30"], { cwd, restricted, module: fewDescriptors });
    const starts = JSON.parse(stdout || JSON.stringify([{ stderr }])) as readonly { readonly name: string; readonly message?: string }[];
    const refused = starts.slice(0, -1);
    // The last one had what it needs, and ended since the module is no command line.
    expect([starts.at(-1)?.name, refused.length > 3]).toEqual(["none", true]);
    for (const start of refused)
      expect(start).toMatchObject({
        name: "AgentError",
        code: "CONFIG_INVALID",
        message: expect.stringMatching(/EMFILE|cannot be locked/),
      });
  });

  test("C14, C47, C68: asks for the passphrase once before it starts the process, whose tools' children have the secrets, and neither it nor they stand in arguments, variables or files", async () => {
    const { cwd, log, serve, state } = await place();
    const [passphrase, canary] = ["a passphrase that is typed", "canary-acme-0123456789"];
    await run(["secrets", "set", "ACME_API_TOKEN"], { cwd, input: canary, env: { LOOPWRIGHT_SECRETS_PASSPHRASE: passphrase } });
    await writeFile(
      join(cwd, "tools.mjs"),
      `import { execFileSync } from "node:child_process";
       export const tools = ({ environment, defineTool }) => [defineTool({
         name: "print_token",
         description: "Prints a variable.",
         parameters: { type: "object", properties: {} },
         execute: () => {
           const printed = execFileSync("/bin/sh", ["-c", 'printf "%s" "$ACME_API_TOKEN"'], { env: environment }).toString();
           return "length " + printed.length + ", own " + (process.env.ACME_API_TOKEN ?? "none");
         },
       })];`,
    );
    const { program, args, env } = commandLine(["serve", "start", "--offline", "--port", "0", "--tools", "tools.mjs"], { cwd });
    const quoted = [program, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
    const terminal = spawn("script", ["-qec", quoted, "/dev/null"], { cwd, env });
    onTestFinished(() => void terminal.kill("SIGKILL"));
    let shown = "";
    const ended = new Promise<number | null>((resolve) => terminal.on("close", resolve));
    terminal.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (!shown.includes("Passphrase of") && (shown + text).includes("Passphrase of")) terminal.stdin.write(`${passphrase}\r`);
      shown += text;
    });
    expect(await ended).toBe(0);
    expect(shown.split("Passphrase of")).toHaveLength(2);
    expect(shown).not.toContain(passphrase);
    const { pid, url } = state();
    const asked = await run(["ask", "--url", url, "--quiet", "print_token"], { cwd });
    expect(asked.stdout).toContain(`length ${canary.length}, own none`);
    const kept = [join(cwd, ".loopwright/serve.json"), log, `/proc/${pid}/cmdline`, `/proc/${pid}/environ`].map((file) =>
      readFileSync(file, "latin1"),
    );
    for (const text of kept) expect(text).not.toMatch(/a passphrase that is typed|canary/);
    expect((await serve("stop")).stderr).toContain("Stopped");
  });
});
