import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, createSession, execute } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { expect, it, onTestFinished } from "vitest";
import { openStore } from "./open-store.ts";

it("a folder of files keeps a view of each conversation as plain JSON, which goes with its session", async () => {
  const folder = mkdtempSync(join(tmpdir(), "loopwright-views-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const views = (): readonly string[] =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.startsWith("_platform") && name.endsWith(".json"));
  const store = await openStore({ kind: "files", folder }, { environment: {} });
  const agent = createAgent({ name: "helper", provider: scripted([{ text: "Red ones." }, { text: "Ripe ones." }]) });
  for (const id of ["apples", "pears"]) await execute(createSession({ agent, id, store }), "Which?").result();
  const file = "_platform/ai-conversations/local/pears.json";
  await expect.poll(views).toEqual(["_platform/ai-conversations/local/apples.json", file]);
  await store.log.remove({ scope: "local", session: "apples" });
  expect(views()).toEqual([file]);
  expect(JSON.parse(readFileSync(join(folder, file), "utf8"))).toMatchObject({ id: "pears", messages: [{ content: "Which?" }, {}] });
  await store.close();
});
