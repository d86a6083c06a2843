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

test("a session of a server is replayed, exported, forked and compared over HTTP, and from its store when the server has ended", async () => {
  const cwd = await emptyDirectory();
  const { client, child, ended, url } = await startServer({ cwd });
  const stream = client.execute("what is 6 * 7?", { context: {} });
  expect(await stream.result()).toMatchObject({ status: "completed" });
  const id = stream.sessionId ?? "";
  const [overHttp, exported, fork] = await runAll(
    [
      ["replay", id, "--offline", "--url", url],
      ["sessions", "export", id, "--format", "log", "--url", url],
      ["fork", id, "--url", url, "--json"],
    ],
    { cwd },
  );
  expect([overHttp?.code, overHttp?.stdout]).toEqual([0, expect.stringContaining("gives the identical log")]);
  const forked = JSON.parse(fork?.stdout ?? "").id;
  const [equal, missing] = await runAll(
    [
      ["diff", id, forked, "--url", url],
      ["replay", "0000", "--offline", "--url", url],
    ],
    { cwd },
  );
  expect([equal?.code, equal?.stdout]).toEqual([0, expect.stringContaining("The conversations are equal")]);
  expect([missing?.code, missing?.stderr]).toEqual([1, expect.stringContaining("0000")]);
  child.kill("SIGTERM");
  await ended;
  const [replayed, kept] = await runAll(
    [
      ["replay", id, "--offline"],
      ["sessions", "export", id, "--format", "log"],
    ],
    { cwd },
  );
  expect([replayed?.code, replayed?.stdout]).toEqual([0, expect.stringContaining("gives the identical log")]);
  expect(exported?.stdout).toBe(kept?.stdout);
});

test("a log is exported without secrets, personal data and patterns of one's own, and is still replayed", async () => {
  const cwd = await emptyDirectory();
  const token = `ghp_${"wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"}`;
  const secrets = ["anne.miller@example.com", token, "TULIP-20931"];
  await writeFile(join(cwd, "agents.mjs"), agents("Count."));
  await writeFile(join(cwd, "rules.json"), JSON.stringify({ version: 1, rules: [{ id: "ticket", pattern: "TULIP-[0-9]{5}" }] }));
  const own = ["--agents", "./agents.mjs", "--agent", "counter"];
  const id = idIn((await run(["ask", ...own, `I am ${secrets.join(" and ")}; what is 6 * 7?`], { cwd })).stderr);
  const [plain, redacted, unused] = await runAll(
    [
      ["sessions", "export", id, "--format", "log"],
      ["sessions", "export", id, "--format", "log", "--redact", "--guardrails", "rules.json"],
      ["sessions", "export", id, "--redact"],
    ],
    { cwd },
  );
  for (const secret of secrets) {
    expect(plain?.stdout).toContain(secret);
    expect(redacted?.stdout).not.toContain(secret);
    expect(redacted?.stderr).not.toContain(secret);
  }
  for (const rule of ["email", "github", "ticket"])
    expect(redacted?.stderr).toMatch(new RegExp(`\\[redacted:${rule}-1\\]: \\d+ places?, first in fact \\d+\n`));
  expect(redacted?.stderr).toMatch(/Replaced 3 texts at \d+ places\./);
  expect([unused?.code, unused?.stderr]).toEqual([2, expect.stringContaining("--format log")]);
  await writeFile(join(cwd, "shared.jsonl"), redacted?.stdout ?? "");
  const replayed = await run(["replay", "shared.jsonl", ...own], { cwd });
  expect([replayed.code, replayed.stdout]).toEqual([0, expect.stringContaining("gives the identical log")]);
});

test("a policy of approvals is tried on the sessions that are kept", async () => {
  const cwd = await emptyDirectory();
  const id = idIn((await run(["ask", "what is 6 * 7?"], { cwd })).stderr);
  await writeFile(join(cwd, "policy.json"), JSON.stringify({ calculate: "always" }));
  await writeFile(join(cwd, "wrong.json"), JSON.stringify({ calculate: "sometimes" }));
  const [tried, asJson, wrong] = await runAll(
    [
      ["approvals", "backtest", "policy.json"],
      ["approvals", "backtest", "policy.json", "--json"],
      ["approvals", "backtest", "wrong.json"],
    ],
    { cwd },
  );
  expect([tried?.code, tried?.stdout]).toEqual([0, expect.stringMatching(`^${id}  \\S+  calculate  would be asked, was allowed\n$`)]);
  expect(tried?.stderr).toContain("1 calls of 1 sessions. Asked: 1 (was 0), allowed: 0 (was 1), denied: 0 (was 0).");
  expect(JSON.parse(asJson?.stdout ?? "")).toMatchObject({ session: id, toolName: "calculate", verdict: "ask", recorded: "allow" });
  expect([wrong?.code, wrong?.stderr]).toEqual([3, expect.stringContaining("the entry of `calculate`")]);
});
