import { spawnSync } from "node:child_process";
import { linkSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, vi } from "vitest";
import { makeScratch } from "./scratch.ts";

// Processes are started here: on a busy machine that takes its time.
vi.setConfig({ testTimeout: 60_000 });

const main = fileURLToPath(new URL("dying-writer.ts", import.meta.url));
const args = { path: "notes/a.txt", content: "12345678" };

/** A writer that is killed when it comes to this step. */
function killAt(step: "link" | "unlink" | "rename", directory: string, what: object, key = "run.1.0"): void {
  const { signal, stderr } = spawnSync(
    process.execPath,
    ["--conditions=@loopwright/source", "--no-warnings", main, directory, step, JSON.stringify(what), key],
    { encoding: "utf8" },
  );
  expect([signal, stderr]).toEqual(["SIGKILL", ""]);
}

const again = { context: { idempotencyKey: "run.1.0" } };

it("file_create that was killed after its file had its name completes at the second attempt", async () => {
  const { root, call } = await makeScratch();
  killAt("unlink", root, args);
  expect(statSync(join(root, "notes/a.txt")).nlink).toBe(2);
  expect((await call("file_create", args, again)).result).toMatchObject({ outcome: "ok" });
  expect(readdirSync(join(root, "notes"))).toEqual(["a.txt"]);
  expect((await call("file_read", { path: "notes/a.txt" })).text).toBe("12345678");
});

it("file_create that was killed before its file had its name finds the room that its first attempt took", async () => {
  const { root, call } = await makeScratch({ totalBytesMax: 10, entriesMax: 2 });
  killAt("link", root, args);
  expect(readdirSync(join(root, "notes"))).toEqual([expect.stringMatching(/^\.loopwright-.+\.tmp$/)]);
  expect((await call("file_create", args, again)).result).toMatchObject({ outcome: "ok", details: { outcome: "created" } });
  expect(readdirSync(join(root, "notes"))).toEqual(["a.txt"]);
});

it("file_create that was killed while it replaced a file replaces it at the second attempt", async () => {
  const { root, call } = await makeScratch({ totalBytesMax: 20 });
  await call("file_create", { path: "notes/a.txt", content: "before" });
  killAt("rename", root, { ...args, overwrite: true });
  expect((await call("file_create", { ...args, overwrite: true }, again)).result).toMatchObject({
    outcome: "ok",
    details: { outcome: "replaced" },
  });
  expect(readFileSync(join(root, "notes/a.txt"), "utf8")).toBe("12345678");
  expect(readdirSync(join(root, "notes"))).toEqual(["a.txt"]);
});

it("what a killed writer left can be read, listed and replaced at once by other calls", async () => {
  for (const descriptors of [undefined, false]) {
    const { root, call } = await makeScratch({}, descriptors);
    killAt("unlink", root, args);
    expect((await call("file_list", { recursive: true })).text).toContain('"sizeBytes":8');
    killAt("unlink", root, { ...args, path: "b.txt" });
    expect((await call("file_read", { path: "b.txt" })).text).toBe("12345678");
    killAt("unlink", root, { ...args, path: "c.txt" });
    const other = { context: { idempotencyKey: "another" } };
    expect((await call("file_create", { path: "c.txt", content: "new", overwrite: true }, other)).result).toMatchObject({ outcome: "ok" });
    expect(readdirSync(root).sort()).toEqual(["b.txt", "c.txt", "notes"]);
  }
});

it("another content under another key is refused as ever, and so is a second name that no writer left", async () => {
  const { root, outside, call } = await makeScratch();
  killAt("unlink", root, args);
  const other = { context: { idempotencyKey: "another" } };
  expect((await call("file_create", { ...args, content: "other" }, other)).result).toMatchObject({ failure: { code: "FILE_EXISTS" } });
  linkSync(join(outside, "secret.txt"), join(root, "hard.txt"));
  linkSync(join(outside, "secret.txt"), join(root, ".loopwright-planted.tmp"));
  expect((await call("file_read", { path: "hard.txt" })).result).toMatchObject({ failure: { code: "NOT_REGULAR" } });
  expect(statSync(join(outside, "secret.txt")).nlink).toBe(2);
});
