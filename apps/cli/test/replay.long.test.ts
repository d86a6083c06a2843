import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { emptyDirectory, run, runAll } from "./run-binary.ts";
import { startServer } from "./run-server.ts";

const idIn = (text: string): string => /--resume ([a-z0-9]+)/.exec(text)?.[1] ?? "";

const agents = (prompt: string): string => `export const agents = ({ createAgent, provider, tools }) =>
  createAgent({ name: "counter", provider, prompt: ${JSON.stringify(prompt)}, tools });
`;

test("a session is replayed from its store and from its file, and another prompt is seen", async () => {
  const cwd = await emptyDirectory();
  const module = join(cwd, "agents.mjs");
  await writeFile(module, agents("Count."));
  const own = ["--agents", "./agents.mjs", "--agent", "counter"];
  const id = idIn((await run(["ask", ...own, "what is 6 * 7?"], { cwd })).stderr);
  const exported = await run(["sessions", "export", id, "--format", "log"], { cwd });
  await writeFile(join(cwd, "counted.jsonl"), exported.stdout);
  const [same, ofFile, unknown] = await runAll(
    [
      ["replay", id, ...own],
      ["replay", "counted.jsonl", ...own, "--json"],
      ["replay", "counted.jsonl"],
    ],
    { cwd },
  );
  expect([same?.code, same?.stdout]).toEqual([0, expect.stringMatching(`^The replay of ${id} gives the identical log: \\d+ facts\\.\n$`)]);
  expect(JSON.parse(ofFile?.stdout ?? "")).toMatchObject({ isIdentical: true });
  expect([unknown?.code, unknown?.stderr]).toEqual([3, expect.stringContaining("the agent `counter`, which is not here")]);

  await writeFile(module, agents("Count aloud."));
  const changed = await run(["replay", id, ...own], { cwd });
  expect(changed.code).toBe(1);
  expect(changed.stdout).toContain("run.started agentDigest\n- ");
  expect(changed.stdout).toContain("The agent has changed since");

  await writeFile(join(cwd, "broken.jsonl"), (await readFile(join(cwd, "counted.jsonl"), "utf8")).replace(/\n.*\n/, "\n"));
  const broken = await run(["replay", "broken.jsonl", ...own], { cwd });
  expect([broken.code, broken.stderr]).toEqual([3, expect.stringContaining("Line 2 of the file is not fact 1.")]);
});

test("a session is forked as it was at an event, and the first message in which two differ is shown", async () => {
  const cwd = await emptyDirectory();
  const id = idIn((await run(["ask", "what is 6 * 7?"], { cwd })).stderr);
  const shown = await run(["sessions", "show", id, "--json"], { cwd });
  const messages = shown.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  // While the first answer was being written.
  const at = messages[1].id;
  const [fork, whole, tooFar] = await runAll(
    [
      ["fork", id, "--at", at, "--model", "other-1", "--system-prompt", "Answer in rhymes."],
      ["fork", id],
      ["fork", id, "--at", "9999"],
    ],
    { cwd },
  );
  expect(fork?.stderr).toMatch(/^Continue it: .* --model other-1\n$/);
  expect([tooFar?.code, tooFar?.stderr]).toEqual([2, expect.stringContaining("The session has no event 9999")]);
  const [equal, differs, asJson] = await runAll(
    [
      ["diff", id, whole?.stdout.trim() ?? ""],
      ["diff", id, fork?.stdout.trim() ?? ""],
      ["diff", id, fork?.stdout.trim() ?? "", "--json"],
    ],
    { cwd },
  );
  expect([equal?.code, equal?.stdout]).toEqual([0, `The conversations are equal: ${messages.length} messages.\n`]);
  expect([differs?.code, differs?.stdout]).toEqual([
    1,
    expect.stringMatching(/^The conversations differ at message 2\.\n- \[\d+\] assistant: .*\n\+ \(it has ended\)\n$/),
  ]);
  expect(JSON.parse(asJson?.stdout ?? "")).toMatchObject({ isEqual: false, place: 1, members: [] });
});

test("a session of a server is replayed with the agent as the server makes it", async () => {
  const cwd = await emptyDirectory();
  const { client, child, ended } = await startServer({ cwd });
  const stream = client.execute("what is 6 * 7?", { context: {} });
  expect(await stream.result()).toMatchObject({ status: "completed" });
  child.kill("SIGTERM");
  await ended;
  const replayed = await run(["replay", stream.sessionId ?? "", "--offline"], { cwd });
  expect([replayed.code, replayed.stdout]).toEqual([0, expect.stringContaining("gives the identical log")]);
});
