import { spawn, spawnSync } from "node:child_process";
import { chmod, chown, mkdir, readdir, readFile, stat } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { secretVariables } from "../src/secrets/secret-categories.ts";
import { commandLine, emptyDirectory } from "./run-binary.ts";

const recipe = await readFile(new URL("../../../examples/container/Dockerfile", import.meta.url), "utf8");

/** The instructions of a recipe, each with its words. */
const instructionsOf = (text: string): readonly (readonly [name: string, words: string])[] =>
  text
    .replaceAll("\\\n", " ")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => [line.split(" ", 1)[0] ?? "", line.slice(line.indexOf(" ") + 1)] as const);

const namesOf = (text: string): readonly string[] => instructionsOf(text).map(([name]) => name);
const wordsOf = (name: string): string => instructionsOf(recipe).findLast(([one]) => one === name)?.[1] ?? "";
const commandOf = (words: string): readonly string[] => JSON.parse(words.slice(words.indexOf("["))) as readonly string[];

/** The secrets that layers of the image would have. */
const secretsIn = (text: string): readonly string[] =>
  instructionsOf(text)
    .filter(([name]) => name === "ENV" || name === "ARG")
    .map(([, words]) => words.split("=", 1)[0] ?? "")
    .filter((name) => secretVariables.includes(name) || /KEY|TOKEN|SECRET|PASS/.test(name));

/** A user that owns nothing here; root may become it. */
const otherUser = 65_534;
const isRoot = process.getuid?.() === 0;

/** What comes before a command so that everything but the volume is read-only and it runs as that user, as far as this machine allows. */
function confinedTo(volume: string): readonly string[] {
  if (!isRoot) return [];
  const user = ["setpriv", `--reuid=${otherUser}`, `--regid=${otherUser}`, "--clear-groups", "--no-new-privs", "--"];
  const script = 'mount --bind "$0" "$0" && mount --bind / / && mount --bind "$0" "$0" && mount -o remount,bind,ro / && exec "$@"';
  const sealed = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, volume, ...user];
  return (
    [sealed, user].find(([program = "", ...words]) => spawnSync(program, [...words, "touch", join(volume, ".probe")]).status === 0) ?? []
  );
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test("C67: the recipe of the image has a user that is not root, a health check without a shell, one volume, the signal that lets runs rest, and no secret", () => {
  const names = namesOf(recipe);
  expect(wordsOf("USER")).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  expect(names.lastIndexOf("RUN")).toBeLessThan(names.indexOf("USER"));
  expect(commandOf(wordsOf("HEALTHCHECK")).slice(0, 2)).toEqual(["node", "-e"]);
  expect(wordsOf("HEALTHCHECK")).not.toContain("curl");
  expect(wordsOf("STOPSIGNAL")).toBe("SIGTERM");
  expect(names.filter((name) => name === "VOLUME")).toHaveLength(1);
  expect(wordsOf("VOLUME")).toBe(`${wordsOf("WORKDIR")}/.loopwright`);
  expect(names.filter((name) => ["COPY", "ADD", "ENTRYPOINT"].includes(name))).toEqual([]);
  expect(commandOf(wordsOf("CMD"))).toEqual(["loopwright", "run"]);
  expect(secretsIn(recipe)).toEqual([]);
  expect(secretsIn(`${recipe}\nENV OPENAI_API_KEY=x\nARG LOOPWRIGHT_TOKEN\n`)).toEqual(["OPENAI_API_KEY", "LOOPWRIGHT_TOKEN"]);
});

test("C67: the command of the image serves as another user with variables alone where only its volume can be written, is healthy while it serves, and ends with 0 at SIGTERM", async () => {
  const cwd = await emptyDirectory();
  const volume = join(cwd, ".loopwright");
  await mkdir(volume, { mode: 0o700 });
  if (isRoot) await chown(volume, otherUser, otherUser);
  await chmod(cwd, 0o555);
  onTestFinished(() => chmod(cwd, 0o755));
  const asked: (string | undefined)[] = [];
  const service = createServer((request, response) => {
    asked.push(request.url);
    response.writeHead(401).end();
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void service.close());
  const port = await freePort();
  const image = Object.fromEntries(
    instructionsOf(recipe)
      .filter(([name]) => name === "ENV")
      .map(([, words]) => words.split("=", 2) as [string, string]),
  );
  const variables = {
    ...image,
    // The network of a container is its own; here it is that of the machine.
    LOOPWRIGHT_HOST: "127.0.0.1",
    LOOPWRIGHT_PORT: `${port}`,
    LOOPWRIGHT_TOKEN: "canary-token-of-a-test",
    LOOPWRIGHT_AUTH_URL: `http://127.0.0.1:${(service.address() as AddressInfo).port}/check`,
    LOOPWRIGHT_SHUTDOWN_TIMEOUT: "5",
    KUBECONFIG: "apiVersion: v1\nkind: Config\n",
  };
  const prefix = confinedTo(volume);
  const [toucher = "", ...touching] = [...prefix, "touch", join(cwd, "written")];
  expect(spawnSync(toucher, touching).status).not.toBe(0);
  const { program, args, env } = commandLine(commandOf(wordsOf("CMD")).slice(1), { cwd, env: variables, restricted: { prefix } });
  const [node = "", ...check] = commandOf(wordsOf("HEALTHCHECK"));
  const health = (): Promise<number | null> =>
    new Promise((resolve) => {
      spawn(node === "node" ? process.execPath : node, check, { env: { LOOPWRIGHT_PORT: `${port}` }, stdio: "ignore" }).on(
        "close",
        resolve,
      );
    });
  expect(await health()).toBe(1);

  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let printed = "";
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const listening = new Promise<void>((resolve, reject) => {
    const note = (text: string): void => {
      printed += text;
      if (printed.includes('"listening"')) resolve();
    };
    child.stdout.setEncoding("utf8").on("data", note);
    child.stderr.setEncoding("utf8").on("data", note);
    void ended.then((code) => reject(new Error(`It ended with ${code}:\n${printed}`)));
  });
  await listening;
  expect(await health()).toBe(0);
  if (prefix.length > 0) expect((await readFile(`/proc/${child.pid}/status`, "utf8")).match(/^Uid:\s+(\d+)/m)?.[1]).toBe(`${otherUser}`);
  const refused = await fetch(`http://127.0.0.1:${port}/api/sessions`, { headers: { Authorization: "Bearer of-an-unknown-caller" } });
  expect([refused.status, asked.length > 0]).toEqual([401, true]);
  const send = async (path: string, body: object): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}/api/sessions${path}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${variables.LOOPWRIGHT_TOKEN}`, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  const begun = await send("", { id: "greenhouse" });
  expect([begun.ok, begun.ok ? "" : await begun.text()]).toEqual([true, ""]);
  // An input is acknowledged when it is kept: the store stands in the volume then.
  const accepted = await send("/greenhouse/messages", { input: "Hello." });
  expect([accepted.ok, accepted.ok ? "" : await accepted.text()]).toEqual([true, ""]);
  await accepted.body?.cancel();
  expect(await readdir(cwd)).toEqual([".loopwright"]);
  expect(await readdir(volume)).toEqual(expect.arrayContaining(["kubeconfig", "sessions.db"]));
  expect((await stat(join(volume, "kubeconfig"))).mode & 0o777).toBe(0o600);

  child.kill("SIGTERM");
  expect(await ended).toBe(0);
  expect(printed).toContain('"stopped"');
  expect(printed).not.toContain(variables.LOOPWRIGHT_TOKEN);
  expect(await health()).toBe(1);
}, 60_000);
