import { once } from "node:events";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { emptyDirectory, run, runAll } from "./run-binary.ts";
import { startServer } from "./run-server.ts";

const key = "sk-CANARY-0123456789";

/** A model server of the user's own, which notes what it is sent. */
async function vendor(): Promise<{
  readonly origin: string;
  readonly calls: { readonly key: string | undefined; readonly body: string }[];
}> {
  const calls: { key: string | undefined; body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += String(piece);
    calls.push({ key: request.headers.authorization, body });
    response.setHeader("content-type", "text/event-stream");
    const chunk = (delta: object, end: string | null): string =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: end }] })}\n\n`;
    response.end(`${chunk({ content: "From your own model." }, null)}${chunk({}, "stop")}data: [DONE]\n\n`);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls };
}

test("A54: a user brings a model from the terminal, is answered by it, and its key is in no argument, variable or clear file", async () => {
  const { origin, calls } = await vendor();
  const cwd = await emptyDirectory();
  const server = await startServer({ cwd, flags: ["--own-keys"], env: { LOOPWRIGHT_OWN_KEYS_ORIGINS: origin } });
  const line = (words: readonly string[]): readonly string[] => ["providers", ...words, "--url", server.url];
  const wanted = ["add", "--vendor", "custom", "--model", "mine-1", "--base-url", `${origin}/v1`];
  const added = await run(line([...wanted, "--name", "Mine"]), { cwd, input: `${key}\n` });
  expect([added.code, added.stderr]).toEqual([0, ""]);
  expect(added.stdout).toMatch(/^\S+ active Mine custom\/mine-1 at http/);
  const id = added.stdout.split(" ")[0] ?? "";
  await server.client.settings.change({ personalization: { enabled: true, text: "Answer like a pirate." } });
  const answer = async (): Promise<string> => (await server.client.execute("What is 6 * 7?", { context: {} }).result()).text;
  expect(await answer()).toBe("From your own model.");
  expect(calls.at(-1)?.body).toContain("Answer like a pirate.");
  const lines = [line(["test", id.slice(0, 12)]), line(["list", "--json"]), line(["rest"])];
  const [tested, listed, rested] = await runAll(lines, { cwd });
  expect(tested?.stdout).toMatch(/^mine-1 answered after \d+ ms\.\n$/);
  expect(listed?.stdout).toContain('"hasKey":true');
  expect(rested?.stderr).toBe("Your messages go to the models of the server.\n");
  expect(new Set(calls.map((call) => call.key))).toEqual(new Set([`Bearer ${key}`]));
  expect(await answer()).toContain("42");
  writeFileSync(join(cwd, "next-key"), `${key}-next\n`);
  const replaced = line(["key", id, "--key-file", "next-key"]);
  const [used, changed, refused] = await runAll(
    [line(["use", id.slice(0, 12)]), replaced, [...replaced, "--base-url", "http://10.0.0.1/v1"]],
    { cwd },
  );
  expect([used?.stdout, changed?.code, refused?.code]).toEqual([expect.stringContaining(" active "), 0, 2]);
  expect(await answer()).toBe("From your own model.");
  expect(calls.at(-1)?.key).toBe(`Bearer ${key}-next`);
  const proc = `/proc/${server.child.pid}`;
  for (const file of ["cmdline", "environ"]) expect(readFileSync(join(proc, file), "utf8")).not.toContain(key);
  const places = readdirSync(join(cwd, ".loopwright"), { withFileTypes: true }).filter((entry) => entry.isFile());
  expect(places.map(({ name }) => name)).toEqual(expect.arrayContaining(["master.key", "secrets.db", "settings.db"]));
  for (const { name } of places) {
    const path = join(cwd, ".loopwright", name);
    expect(readFileSync(path, "latin1")).not.toContain(key.slice(0, 12));
    expect([name, (statSync(path).mode & 0o077).toString(8)]).toEqual([name, "0"]);
  }
  expect((await run(line(["rm", id]), { cwd })).code).toBe(0);
  expect(await answer()).toContain("42");
});

test("A56: mistakes are explained: no key, an unknown vendor, an address that may not be reached, a server that takes none", async () => {
  const cwd = await emptyDirectory();
  const [server, plain] = await Promise.all([startServer({ cwd, flags: ["--own-keys"] }), startServer({ cwd: await emptyDirectory() })]);
  writeFileSync(join(cwd, "key"), "sk-of-a-file\n");
  writeFileSync(join(cwd, "blank"), " \n");
  const shape = /^.+ \([A-Z_]+\)\nwhy: .+\ntry: .+\n$/;
  const cases: readonly (readonly [readonly string[], number])[] = [
    [["--vendor", "openai", "--key-file", "blank"], 3],
    [["--vendor", "openai", "--key-file", "missing"], 3],
    [["--vendor", "nonesuch", "--key-file", "key"], 2],
    [["--vendor", "custom", "--key-file", "key"], 2],
    [["--vendor", "custom", "--key-file", "key", "--base-url", "http://169.254.169.254/"], 2],
  ];
  const add = ["providers", "add", "--model", "m"];
  const ended = await runAll(
    [
      ...cases.map(([words]) => [...add, "--url", server.url, ...words]),
      [...add, "--url", server.url, "--vendor", "openai", "--key-file", "key"],
      ["providers", "test", "nonesuch", "--url", server.url],
      ["providers", "list", "--url", plain.url],
    ],
    { cwd },
  );
  for (const [at, [words, code]] of cases.entries()) {
    expect([words, ended[at]?.code]).toEqual([words, code]);
    expect(ended[at]?.stderr).toMatch(shape);
  }
  const [made, unknown, without] = ended.slice(cases.length);
  expect(made?.code).toBe(0);
  expect(unknown?.stderr).toContain("PROVIDER_NOT_FOUND");
  expect(without?.stderr).toContain("ROUTE_NOT_FOUND");
});
