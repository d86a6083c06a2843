import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const program = fileURLToPath(new URL("./worker-program.ts", import.meta.url));

it("a worker loads modules of core and host only: no library, and neither hono nor zod", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=@loopwright/source", "--no-warnings", program]);
  const lines = stdout.trim().split("\n");
  const loaded = JSON.parse(lines.at(-1) ?? "[]") as readonly string[];
  const others = loaded.filter((url) => !/^file:.*\/packages\/(?:core|host)\/src\//.test(url));
  expect(others).toEqual([]);
  expect(loaded.some((url) => url.endsWith("/packages/host/src/work/sweep-for-unhinted-sessions.ts"))).toBe(true);
});
