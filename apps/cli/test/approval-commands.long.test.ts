import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { emptyDirectory, runAll } from "./run-binary.ts";
import { startServer } from "./run-server.ts";

const water = `export const water = {
  name: "water_plants", description: "Waters the plants of a bed.", approval: "Water is scarce.",
  parameters: { type: "object", properties: { bed: { type: "string" } }, required: ["bed"] },
  execute: ({ bed }) => "watered " + bed,
};`;

async function withTools(): Promise<{ readonly cwd: string; readonly tools: readonly string[] }> {
  const cwd = await emptyDirectory();
  await writeFile(join(cwd, "tools.mjs"), water);
  return { cwd, tools: ["--tools", "tools.mjs"] };
}

test("a call that waits in a store is listed with all its arguments, decided by the beginning of its key, and remembered as a rule that can be revoked", async () => {
  const { cwd, tools } = await withTools();
  const ask = ["ask", "--offline", ...tools, "water_plants please"];
  const first = [["list"], ["list", "--json"], ["list"]].map((words) => ["approvals", ...words]);
  const [nothing, , asJson, asText] = await runAll([first[0] ?? [], ask, ...first.slice(1)], { cwd });
  expect(nothing?.stderr).toBe("Nothing waits for a decision.\n");
  const { callKey, args } = JSON.parse(asJson?.stdout ?? "") as { callKey: string; args: { bed: string } };
  expect(asText?.stdout).toMatch(/Run water_plants\? Water is scarce\.\n\s+\{\n\s+"bed": /);
  expect([asText?.stdout.includes(callKey), asText?.stderr.includes("approvals allow|deny <call>")]).toEqual([true, true]);
  expect(existsSync(join(cwd, ".loopwright/approvals.db"))).toBe(false);

  const narrow = ["--remember", "always", "--pattern", '{"args":{"bed":{"below":"x/"}}}'];
  const refused = [
    ["allow", "nope"],
    ["allow", callKey, "--remember", "maybe"],
    ["deny", callKey, "--remember", "always", "--pattern", "x"],
    ["allow", callKey, ...narrow],
  ];
  const decided = [["allow", callKey.slice(0, 12), "--remember", "always"], ["rules"]];
  const ended = await runAll([...[...refused, ...decided].map((words) => ["approvals", ...words]), ask], { cwd });
  for (const { code, stderr } of ended.slice(0, refused.length)) expect([code === 0, stderr.includes("try: ")]).toEqual([false, true]);
  const [allowed, rules, again] = ended.slice(refused.length);
  expect(allowed?.stderr).toContain("Allowed water_plants");
  const [id = "", ...rule] = (rules?.stdout ?? "").trim().split("  ");
  expect(rule.slice(0, 3)).toEqual(["allow", "water_plants", JSON.stringify({ bed: { equals: args.bed } })]);
  // The same words make the offline model call with the same arguments, which the rule allows.
  expect(again?.stderr).not.toContain("Waits for approval");
  const [revoked, twice, asked] = await runAll([["approvals", "revoke", id], ["approvals", "revoke", id], ask], { cwd });
  expect([revoked?.code, twice?.code, asked?.stderr.includes("Waits for approval")]).toEqual([0, 1, true]);
});

test("on a running server the same commands decide, and the run continues there", async () => {
  const { cwd, tools } = await withTools();
  const { url, client } = await startServer({ cwd, flags: tools });
  const session = await client.sessions.create();
  await client.sessions.submit(session.sessionId, "water_plants please");
  const approvals = (...lines: string[][]) =>
    runAll(
      lines.map((words) => ["approvals", ...words, "--url", url]),
      { cwd },
    );
  await expect.poll(async () => (await client.approvals.list()).approvals.length).toBe(1);
  const [{ callKey = "", sessionId = "" } = {}] = (await client.approvals.list()).approvals;
  const [listed, denied] = await approvals(["list", "--json"], ["deny", callKey, "--note", "It rains."]);
  expect(JSON.parse(listed?.stdout ?? "")).toMatchObject({ callKey, sessionId: session.sessionId });
  expect(denied?.stderr).toContain("Denied water_plants");
  await expect.poll(async () => (await client.sessions.get(sessionId)).status).toBe("idle");
  const { messages } = await client.sessions.get(sessionId);
  expect(JSON.stringify(messages.find(({ message }) => message.role === "tool_result"))).toContain("It rains.");
  expect((await client.approvals.list()).approvals).toEqual([]);
});
