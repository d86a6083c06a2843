import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it, onTestFinished } from "vitest";
import { openChatMemory } from "./chat-memory.ts";

it("finds the entry written last by an index, so that a write does not read the whole table", () => {
  const folder = mkdtempSync(join(tmpdir(), "chat-memory-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "memory.db");
  const memory = openChatMemory(path);
  memory.write("key", "value");
  memory.close();
  const database = new DatabaseSync(path);
  const plan = database.prepare("EXPLAIN QUERY PLAN SELECT max(written) FROM entries").all();
  database.close();
  expect(plan).toMatchObject([{ detail: expect.stringContaining("INDEX entries_written") }]);
});
