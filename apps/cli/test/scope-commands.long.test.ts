import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newMasterKey } from "@loopwright/secrets";
import { expect, test } from "vitest";
import { emptyDirectory, run, runAll } from "./run-binary.ts";
import { startServer } from "./run-server.ts";

const shape = /^.+ \([A-Z_]+\)\nwhy: .+\ntry: .+\n$/;

test("A63: files and knowledge are added, listed, read and removed here and at a server, and agents search what was added", async () => {
  const cwd = await emptyDirectory();
  writeFileSync(join(cwd, "handbook.md"), "# Handbook\n\nThe office closes at six.\n");
  writeFileSync(join(cwd, "local.md"), "Not for long.\n");
  writeFileSync(join(cwd, "empty.txt"), "");
  const [local, kept, empty, missing, none, added, listed] = await runAll(
    [
      ["files", "add", "local.md"],
      ["files", "add", "handbook.md"],
      ["files", "add", "empty.txt"],
      ["files", "add", "missing.txt"],
      ["knowledge", "list"],
      ["knowledge", "add", "handbook.md"],
      ["knowledge", "list", "--json"],
    ],
    { cwd },
  );
  const [gone, left] = await runAll(
    [
      ["files", "rm", local?.stdout.split(" ")[0] ?? ""],
      ["files", "list"],
    ],
    { cwd },
  );
  expect([gone?.code, left?.stdout]).toEqual([0, kept?.stdout]);
  const key = kept?.stdout.split(" ")[0] ?? "";
  expect(kept?.stdout).toMatch(/^upload-[0-9a-f]{64} \d+ bytes text\/markdown handbook.md\n$/);
  for (const refused of [empty, missing]) expect([refused?.code, refused?.stderr]).toEqual([2, expect.stringMatching(shape)]);
  expect([none?.stdout, none?.stderr]).toEqual(["", "The knowledge base is empty. `loopwright knowledge add <path>` adds a document.\n"]);
  expect(added?.stdout).toBe("handbook.md 1 passage Handbook\n");
  expect(JSON.parse(listed?.stdout ?? "")).toMatchObject({ id: "handbook.md", kind: "file" });

  // The file of the knowledge base is there now, so that a server offers it.
  const server = await startServer({ cwd });
  const tools = (await server.client.tools()).map(({ name }) => name);
  expect(tools).toContain("rag_tool");
  writeFileSync(join(cwd, "rules.csv"), "rule,when\nquiet,after ten\n");
  const at = ["--url", server.url];
  const [remote, got, ambiguous, learned, unsupported, all, removed, again, deleted, absent] = await runAll(
    [
      ["files", "list", "--json", ...at],
      ["files", "get", key.slice(0, 20), "--out", "copy.md", ...at],
      ["files", "get", "upload-nonesuch", ...at],
      ["knowledge", "add", "rules.csv", "--title", "Rules of the house", ...at],
      ["knowledge", "add", "handbook.md", "--type", "image/png", ...at],
      ["knowledge", "list", ...at],
      ["knowledge", "rm", "handbook.md", ...at],
      ["knowledge", "rm", "handbook.md", ...at],
      ["files", "rm", key.slice(0, 20), ...at],
      ["files", "rm", key, ...at],
    ],
    { cwd },
  );
  expect(JSON.parse(remote?.stdout ?? "")).toMatchObject({ blob: key, name: "handbook.md", by: "local" });
  expect([got?.code, readFileSync(join(cwd, "copy.md"), "utf8")]).toEqual([0, "# Handbook\n\nThe office closes at six.\n"]);
  expect([ambiguous?.code, ambiguous?.stderr]).toEqual([1, expect.stringContaining("BLOB_UNKNOWN")]);
  expect(learned?.stdout).toBe("rules.csv 1 passage Rules of the house\n");
  expect(unsupported?.stderr).toContain("MEDIA_TYPE_UNSUPPORTED");
  expect(all?.stdout).toBe("handbook.md 1 passage Handbook\nrules.csv 1 passage Rules of the house\n");
  expect([removed?.code, again?.code]).toEqual([0, 1]);
  expect([deleted?.code, deleted?.stdout]).toEqual([0, `Deleted ${key}\n`]);
  expect([absent?.code, absent?.stderr]).toEqual([1, expect.stringContaining("BLOB_UNKNOWN")]);
});

test("A54: a process without users' keys does not start beside one that takes them; another master key needs no pause; plans are set", async () => {
  const cwd = await emptyDirectory();
  const [old, next] = [newMasterKey(), newMasterKey()];
  const server = await startServer({ cwd, flags: ["--own-keys"], env: { LOOPWRIGHT_MASTER_KEY: old } });
  await server.client.providers.add({ providerId: "openai", model: "m", displayName: "Mine", key: "sk-CANARY-0123456789" });
  const [refused, shown, set, seen] = await runAll(
    [
      ["run", "--offline", "--port", "0"],
      ["plan", "anne", "--url", server.url],
      ["plan", "anne", "pro", "--url", server.url],
      ["plan", "anne"],
    ],
    { cwd },
  );
  expect([refused?.code, refused?.stderr]).toEqual([3, expect.stringMatching(/own-keys off/)]);
  expect([shown?.stdout, set?.stdout, seen?.stdout]).toEqual(["anne default\n", "anne pro\n", "anne pro\n"]);
  server.child.kill("SIGKILL");
  await server.ended;

  const both = { LOOPWRIGHT_MASTER_KEY: next, LOOPWRIGHT_OLDER_MASTER_KEYS: old };
  const sealed = await run(["own-keys", "reseal"], { cwd, env: both });
  expect([sealed.code, sealed.stderr]).toEqual([0, expect.stringContaining("The keys of 1 scope were put under the current master key.")]);
  const lost = await run(["own-keys", "reseal"], { cwd, env: { LOOPWRIGHT_MASTER_KEY: old } });
  expect([lost.code, lost.stderr]).toEqual([1, expect.stringContaining("SECRET_UNREADABLE")]);
  const later = await startServer({ cwd, flags: ["--own-keys"], env: { LOOPWRIGHT_MASTER_KEY: next } });
  const [provider] = (await later.client.providers.list()).providers;
  await later.client.providers.change(provider?.instanceId ?? "", { displayName: "Ours" });
  later.child.kill("SIGKILL");
  await later.ended;
  expect((await run(["own-keys", "off"], { cwd })).code).toBe(0);
  await startServer({ cwd });
});

test("A61: without an assistant `run` serves no page, no agents and no settings of models; beside a product it takes its surfaces alone", async () => {
  const cwd = await emptyDirectory();
  const none = await startServer({ cwd, flags: ["--assistant-mode", "none", "--own-keys"] });
  expect((await none.client.agents()).agents).toEqual([]);
  expect((await fetch(new URL("api/ai/providers", none.url))).status).toBe(404);
  expect((await fetch(none.url)).headers.get("Content-Type") ?? "").not.toContain("html");
  const panel = await startServer({ cwd: await emptyDirectory(), flags: ["--assistant-mode", "side-panel"] });
  const ask = (surface: string) => panel.client.execute("What is 6 * 7?", { context: {}, labels: { surface } }).result();
  expect((await ask("side-panel")).text).toContain("42");
  expect((await ask("terminal")).text).toContain("42");
  await expect(ask("full-page")).rejects.toMatchObject({ code: "INPUT_INVALID" });
});

test("the retention of a scope is shown and set here and at a server, which shows that of the operator beside it, and each change is in the audit log", async () => {
  const cwd = await emptyDirectory();
  const [none, set, shown, other, wrong] = await runAll(
    [["retention"], ["retention", "30"], ["retention", "--json"], ["retention", "--scope", "garden"], ["retention", "soon"]],
    { cwd },
  );
  expect(none?.stdout).toBe("Sessions are kept.\n");
  expect(set?.stdout).toBe("Sessions are erased 30 days after their last change, unless they are under a legal hold.\n");
  expect(JSON.parse(shown?.stdout ?? "")).toEqual({ keepMs: 30 * 86_400_000 });
  expect(other?.stdout).toBe("Sessions are kept.\n");
  expect([wrong?.code, wrong?.stderr]).toEqual([2, expect.stringMatching(shape)]);
  const server = await startServer({ cwd, flags: ["--retention", "local=7", "--audit"] });
  const at = ["--url", server.url];
  const [there, changed, gone] = await runAll(
    [
      ["retention", "--json", ...at],
      ["retention", "1", ...at],
      ["retention", "none", ...at],
    ],
    { cwd },
  );
  expect(JSON.parse(there?.stdout ?? "")).toEqual({ keepMs: 30 * 86_400_000, deploymentKeepMs: 7 * 86_400_000, mayChange: true });
  expect(changed?.stdout).toBe("Sessions are erased 1 day after their last change, unless they are under a legal hold.\n");
  expect(gone?.stdout).toBe("Sessions are erased 7 days after their last change, unless they are under a legal hold.\n");
  server.child.kill("SIGTERM");
  await server.ended;
  const [audit] = await runAll([["audit", "list", "local", "--json"]], { cwd });
  const changes = (audit?.stdout ?? "")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const byHand = { user: "local", action: "scope.retention-changed" };
  expect(changes.filter(({ action }) => action === byHand.action)).toMatchObject([
    { ...byHand, detail: { fromMs: "forever", toMs: String(30 * 86_400_000) } },
    { ...byHand, detail: { fromMs: String(30 * 86_400_000), toMs: String(86_400_000) } },
    { ...byHand, detail: { fromMs: String(86_400_000), toMs: "forever" } },
  ]);
});
