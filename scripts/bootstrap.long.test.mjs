import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const bootstrap = fileURLToPath(new URL("bootstrap.mjs", import.meta.url));

it("npm start leaves standard output to what was started, however many are started at once", async () => {
  const run = promisify(execFile);
  const start = () => run(process.execPath, [bootstrap, "start", "--version"]);
  const byNpm = run("npm", ["start", "--", "--version"], { cwd: fileURLToPath(new URL("..", import.meta.url)) });
  const started = await Promise.all([start(), start(), byNpm]);
  for (const { stdout } of started) expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});
