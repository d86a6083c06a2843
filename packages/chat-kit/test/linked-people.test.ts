import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createLinkCode, openChatMemory } from "../src/index.ts";

it("a memory in a file is the user's alone, is shared by processes, and gives an entry that is taken to one of them", () => {
  const folder = mkdtempSync(join(tmpdir(), "chat-memory-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "private", "chat.db");
  const [one, other] = [openChatMemory(path), openChatMemory(path)];
  onTestFinished(() => {
    one.close();
    other.close();
  });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(one.writeOnce("a:1", { first: true })).toEqual({ first: true });
  expect(other.writeOnce("a:1", { second: true })).toEqual({ first: true });
  one.write("a:2", "later");
  expect(other.list("a:", 10).map(([key]) => key)).toEqual(["a:2", "a:1"]);
  expect([other.take("a:1"), one.take("a:1")]).toEqual([{ first: true }, undefined]);
  const { code } = createLinkCode(one, { user: "anne", scope: "garden" });
  expect(JSON.stringify(other.list("", 10))).not.toContain(code);
  createLinkCode(one, { user: "ben", scope: "garden" }, { clock: { now: () => Date.now() + 700_000 } });
  expect(one.list("code:", 10)).toHaveLength(1);
});
