import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, createSession, execute } from "@loopwright/core";
import { offline } from "@loopwright/providers-scripted";
import { sqliteStore } from "@loopwright/store-sqlite";
import { createKnowledge, sessionCollection, sqliteKnowledgeStore } from "@loopwright/tools-knowledge";
import { expect, onTestFinished, test } from "vitest";
import { localScope } from "../compose/kept-sessions.ts";
import { localShelf } from "./local-shelf.ts";

test("a session that is removed takes what was attached to it out of the knowledge base, and no knowledge base is made for that", async () => {
  const folder = mkdtempSync(join(tmpdir(), "loopwright-shelf-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [file, path] = [join(folder, "sessions.db"), join(folder, "knowledge.db")];
  mkdirSync(join(folder, "files"));
  const store = sqliteStore(file);
  for (const id of ["one", "two"])
    await execute(
      createSession({ agent: createAgent({ name: "assistant", provider: offline({ pace: 0 }) }), store, id }),
      "hello",
    ).result();
  await store.close();
  const shelf = await localShelf({ store: { kind: "sqlite", file }, environment: {}, filesDirectory: join(folder, "files") });
  await shelf.remove("one");
  expect(existsSync(path)).toBe(false);
  const knowledge = createKnowledge({ store: sqliteKnowledgeStore({ path }) });
  await knowledge.add({ scope: localScope, collection: sessionCollection("two") }, { id: "notes", text: "rhododendron" });
  await knowledge.close();
  await shelf.remove("two");
  await shelf.close();
  expect(readFileSync(path, "latin1")).not.toContain("rhododendron");
});
