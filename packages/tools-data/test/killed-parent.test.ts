import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";

async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // One that has ended waits until its new parent collects it.
  const status = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return !/^\d+ \(.*\) Z/.test(status);
}

it.skipIf(process.platform === "win32")("a query fails alone where no file descriptor is left for its process", async () => {
  const file = join(await mkdtemp(join(tmpdir(), "loopwright-descriptors-")), "caller.mjs");
  const source = (name: string): string => JSON.stringify(new URL(`../src/${name}.ts`, import.meta.url).href);
  await writeFile(
    file,
    `import { closeSync, openSync } from "node:fs";
     import { runQuery } from ${source("run-query")};
     import { defaultDataLimits } from ${source("data-limits")};
     const taken = [];
     try { for (;;) taken.push(openSync("/dev/null")); } catch {}
     let timers = 0;
     const clock = { after: () => (timers++, () => timers--) };
     const outcome = await runQuery({ tables: [], sql: "SELECT 1", limits: defaultDataLimits, clock, signal: new AbortController().signal })
       .then(() => "answered", ({ code, cause }) => code + " " + cause.code);
     for (const descriptor of taken) closeSync(descriptor);
     console.log(outcome, timers);`,
  );
  const shell = ["-c", 'ulimit -n 256 && exec "$@"', "sh", process.execPath, "--conditions=@loopwright/source", "--no-warnings", file];
  const caller = spawn("/bin/sh", shell, { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(caller.stdout, "data")) as [Buffer];
  expect(String(line)).toBe("TOOL_FAILED EMFILE 0\n");
});

// On Windows nothing guards the process.
it.skipIf(process.platform === "win32")("the process of a query that never ends is killed with the process that asked", async () => {
  const file = join(await mkdtemp(join(tmpdir(), "loopwright-killed-parent-")), "caller.mjs");
  const source = (name: string): string => JSON.stringify(new URL(`../src/${name}.ts`, import.meta.url).href);
  await writeFile(
    file,
    `import { channel } from "node:diagnostics_channel";
     import { runQuery } from ${source("run-query")};
     import { defaultDataLimits } from ${source("data-limits")};
     channel("child_process").subscribe(({ process: child }) => child.once("spawn", () => child.spawnfile === process.execPath && console.log(child.pid)));
     const limits = { ...defaultDataLimits, deadlineMs: 3_600_000 };
     const sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
     const clock = { after: () => () => {} };
     await runQuery({ tables: [], sql, limits, clock, signal: new AbortController().signal });`,
  );
  const caller = spawn(process.execPath, ["--conditions=@loopwright/source", "--no-warnings", file], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void caller.kill("SIGKILL"));
  const [line] = (await once(caller.stdout, "data")) as [Buffer];
  const pid = Number(String(line));
  onTestFinished(async () => {
    if (await isAlive(pid)) process.kill(pid, "SIGKILL");
  });
  expect(await isAlive(pid)).toBe(true);
  caller.kill("SIGKILL");
  await vi.waitFor(async () => expect(await isAlive(pid)).toBe(false), { timeout: 60_000, interval: 50 });
});
