import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { isDead, ownIdentity } from "./process-identity.ts";

const own = ownIdentity();
const text = (change: Partial<typeof own>): string => JSON.stringify({ ...own, ...change });

/** The id of a process that was and is no more. */
async function endedPid(): Promise<number> {
  const child = spawn(process.execPath, ["-e", "0"]);
  await once(child, "exit");
  return child.pid ?? 0;
}

it("this process and its parent are alive", () => {
  expect(isDead(text({}), own)).toBe(false);
  expect(isDead(text({ pid: process.ppid, started: "" }), own)).toBe(false);
});

it("a process of this machine that has ended is dead", async () => {
  expect(isDead(text({ pid: await endedPid() }), own)).toBe(true);
});

it.skipIf(!existsSync("/proc/self/stat"))("a process that has got the id of an earlier one is not taken for it", () => {
  expect(isDead(text({ pid: process.ppid, started: "1" }), own)).toBe(true);
  expect(isDead(text({ started: "1" }), own)).toBe(true);
});

it("of another machine, another start of this one, or an unreadable entry nothing is known: not dead", async () => {
  const pid = await endedPid();
  for (const identity of [text({ pid, machine: "elsewhere" }), null, "", "{", "[]", "null", '{"machine":1,"pid":"2","started":3}'])
    expect(isDead(identity, own)).toBe(false);
});
