import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, describe, expect, it } from "vitest";
import { lockWorkspace } from "./workspace-lock.mjs";

const folder = mkdtempSync(join(tmpdir(), "loopwright lock ü-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;
const freshPath = () => join(folder, `lock${++count}`);

/** A process that takes the lock, reports it, writes down that it entered and left, and ends when its input does. */
const program = `
  import { appendFileSync } from "node:fs";
  import { once } from "node:events";
  const { lockWorkspace } = await import(${JSON.stringify(new URL("workspace-lock.mjs", import.meta.url).href)});
  const [path, mode] = process.argv.slice(1);
  for (let round = 0; round < (mode === "hold" ? 1 : 5); round++) {
    const unlock = await lockWorkspace(path, (pid) => console.log("waits for " + pid));
    appendFileSync(path + ".log", "enter\\n");
    if (mode === "hold") { console.log("holds"); process.stdin.resume(); await once(process.stdin, "end"); }
    await new Promise((resolve) => setImmediate(resolve));
    appendFileSync(path + ".log", "leave\\n");
    unlock();
  }
`;

function start(path, mode) {
  const child = spawn(process.execPath, ["--input-type=module", "-e", program, path, mode], { stdio: ["pipe", "pipe", "inherit"] });
  return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator](), ended: once(child, "exit") };
}

describe("the lock of a workspace", () => {
  it("is held by one process at a time, however many want it", async () => {
    const path = freshPath();
    const all = Array.from({ length: 6 }, () => start(path, "rounds"));
    expect(await Promise.all(all.map(async ({ ended }) => (await ended)[0]))).toEqual(all.map(() => 0));
    const written = readFileSync(`${path}.log`, "utf8").trim().split("\n");
    expect(written).toEqual(Array.from({ length: 60 }, (_, at) => (at % 2 === 0 ? "enter" : "leave")));
    expect(readdirSync(folder).filter((name) => name.startsWith(`lock${count}`))).toEqual([`lock${count}.log`]);
  });

  it("is waited for with a line about its holder, and given when the holder gives it back", async () => {
    const path = freshPath();
    const holder = start(path, "hold");
    expect((await holder.lines.next()).value).toBe("holds");
    const waiter = start(path, "rounds");
    expect((await waiter.lines.next()).value).toBe(`waits for ${holder.child.pid}`);
    holder.child.stdin.end();
    expect(await Promise.all([holder.ended, waiter.ended])).toEqual([
      [0, null],
      [0, null],
    ]);
    expect(existsSync(path)).toBe(false);
  });

  it("is taken over from a process that was killed", async () => {
    const path = freshPath();
    const holder = start(path, "hold");
    expect((await holder.lines.next()).value).toBe("holds");
    holder.child.kill("SIGKILL");
    await holder.ended;
    const all = Array.from({ length: 4 }, () => start(path, "rounds"));
    await Promise.all(all.map(({ ended }) => ended));
    const [first, ...others] = readFileSync(`${path}.log`, "utf8").trim().split("\n");
    expect(first).toBe("enter");
    expect(others).toEqual(Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? "enter" : "leave")));
  });

  it.runIf(existsSync("/proc/self/stat"))("is taken over from a process whose id another one has now", async () => {
    const path = freshPath();
    writeFileSync(path, `${process.pid} 1`);
    const unlock = await lockWorkspace(path, () => expect.unreachable("it waits"));
    appendFileSync(path, "");
    unlock();
    expect(existsSync(path)).toBe(false);
  });
});
