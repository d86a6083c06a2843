import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sqliteStore } from "@loopwright/store-sqlite";
import { auditLog } from "@loopwright/telemetry/audit";
import { telemetryFile } from "@loopwright/telemetry/sqlite";
import { expect, test } from "vitest";
import { emptyDirectory, runAll } from "./run-binary.ts";
import { startServer } from "./run-server.ts";

test.concurrent("`usage` prints what was recorded, by what it is asked for, and where nothing was recorded or the question is wrong it prints what to do", async () => {
  const cwd = await emptyDirectory();
  const file = telemetryFile({ path: join(cwd, ".loopwright/telemetry.db") });
  const entry = {
    at: Date.parse("2026-11-24"),
    scope: "local",
    agent: "a",
    provider: "p",
    model: "small",
    input: 10,
    cacheRead: 5,
    cacheWrite: 0,
    output: 2,
  };
  file.usage.add([
    { ...entry, id: "a", user: "anne", costNanos: 2_500_000 },
    { ...entry, id: "b", user: "ben\u001b[2J" },
  ]);
  file.close();
  const [all, users, none, wrong, missing] = await runAll(
    [
      ["usage"],
      ["usage", "--by", "user", "--json"],
      ["usage", "--from", "2027-01-01"],
      ["usage", "--by", "colour"],
      ["usage", "--telemetry", "none.db"],
    ],
    { cwd },
  );
  expect(all?.stdout).toBe("2026-11-24  small  2 calls, 30 tokens read (10 from the cache), 4 written, $0.002500, 1 without a price\n");
  expect(users?.stdout.split("\n")[0]).toContain('"user":"anne"');
  expect(users?.stdout).not.toContain("\u001b");
  expect([none?.stdout, none?.stderr]).toEqual(["", "Nothing was spent.\n"]);
  expect(wrong?.stderr).toMatch(/colour.*\n.*\ntry: Use day, scope/);
  expect(missing?.stderr).toContain("loopwright run --telemetry");
});

test.concurrent("`audit` lists the entries of a scope, and `audit verify` fails for one that was changed in the file", async () => {
  const cwd = await emptyDirectory();
  const path = join(cwd, ".loopwright/sessions.db");
  const store = sqliteStore(path);
  const audit = auditLog({ log: store.log });
  for (const action of ["one", "two", "three"]) await audit.record("local", { user: "anne", action });
  await store.close();
  const [listed, intact, empty] = await runAll(
    [
      ["audit", "list"],
      ["audit", "verify"],
      ["audit", "verify", "other"],
    ],
    { cwd },
  );
  expect(listed?.stdout.split("\n")).toHaveLength(4);
  expect(intact).toMatchObject({ code: 0, stdout: expect.stringMatching(/^intact: 3 entries.* 3:[0-9a-f]{64}\n$/) });
  expect(empty?.stdout).toContain("intact: 0 entries");
  const head = /(3:[0-9a-f]{64})/.exec(intact?.stdout ?? "")?.[1] ?? "";
  const database = new DatabaseSync(path);
  database.exec(`UPDATE facts SET body = replace(body, '"two"', '"six"')`);
  database.close();
  const [changed, known] = await runAll(
    [
      ["audit", "verify", "--json"],
      ["audit", "verify", "--head", head],
    ],
    { cwd },
  );
  expect(changed?.code).toBe(1);
  expect(JSON.parse(changed?.stdout ?? "")).toMatchObject({ intact: false, seq: 2 });
  expect(known?.stdout).toMatch(/^NOT intact: the entry 2 is wrong/);
});

test.concurrent("`run` refuses quotas that it cannot read, before anything is served", async () => {
  const cwd = await emptyDirectory();
  await writeFile(join(cwd, "bad.json"), '{ "anne": { "tokens": 1 } }');
  await writeFile(join(cwd, "none.txt"), "tokens: 1");
  const [bad, none] = await runAll(
    [
      ["run", "--offline", "--quotas", "bad.json"],
      ["run", "--offline", "--quotas", "none.txt"],
    ],
    { cwd },
  );
  expect(bad).toMatchObject({ code: 3, stderr: expect.stringContaining("`anne` is no account") });
  expect(none).toMatchObject({ code: 3, stderr: expect.stringContaining("cannot be read as JSON") });
});

test("A50: `run` with the flags of telemetry answers for latency, usage, cache, quotas and metrics, and writes the audit log; without them these routes are absent", async () => {
  const cwd = await emptyDirectory();
  await writeFile(join(cwd, "quotas.json"), '{ "user/*/*": { "tokens": 100000, "per": "day" } }');
  const flags = ["--telemetry", "--metrics", "--dev-endpoints", "--audit", "--quotas", "quotas.json"];
  const server = await startServer({ cwd, flags });
  const get = async (path: string, url = server.url) => (await fetch(new URL(path, url))).text();
  await server.client.execute("Hi.", { sessionId: "kitchen", context: {} }).result();
  expect(JSON.parse(await get("dev/ai-latency"))).toMatchObject({ turns: 1, models: [{ model: "offline-demo" }] });
  expect(JSON.parse(await get("api/usage?by=user,model"))).toMatchObject({ sums: [{ user: "local", model: "offline-demo", calls: 1 }] });
  expect(JSON.parse(await get("api/sessions/kitchen/cache"))).toMatchObject({ findings: [{ verdict: "first" }] });
  const { quotas } = JSON.parse(await get("api/quotas"));
  expect(quotas[0].tokens.left + quotas[0].tokens.spent).toBe(100_000);
  expect(quotas[0].tokens.spent).toBeGreaterThan(0);
  expect(await get("metrics")).toMatch(/^loopwright_turns_total\{.*model="offline-demo".*\} 1$/m);
  server.child.kill("SIGINT");
  expect((await server.ended).code).toBe(0);
  const [listed] = await runAll([["audit", "list"]], { cwd });
  expect(listed?.stdout).toMatch(/^1 {2}\S+ {2}local {2}session\.opened {2}- {2}kitchen\n$/);
  const plain = await startServer({ cwd });
  for (const path of ["dev/ai-latency", "api/usage", "api/quotas"]) expect((await fetch(new URL(path, plain.url))).status).toBe(404);
  expect(await get("metrics", plain.url)).not.toContain("loopwright_turns_total");
});
