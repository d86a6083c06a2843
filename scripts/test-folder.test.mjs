import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeTestFolder, teardown } from "./test-folder.ts";

const names = ["LOOPWRIGHT_TEST_FOLDER", "TMPDIR"];
let before;

beforeEach(() => {
  before = names.map((name) => process.env[name]);
  for (const name of names) delete process.env[name];
});

afterEach(() => {
  teardown();
  for (const [place, name] of names.entries()) {
    if (before[place] === undefined) delete process.env[name];
    else process.env[name] = before[place];
  }
});

describe("the folder of a test run", () => {
  it("is the one that TMPDIR names, where it names one", () => {
    process.env.TMPDIR = tmpdir();
    expect(makeTestFolder()).toBeUndefined();
  });

  it("is made once, others may enter it, and it goes with the run", () => {
    const folder = makeTestFolder();
    // A system without a file system in memory has none.
    if (folder === undefined) return;
    expect(makeTestFolder()).toBe(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o755);
    teardown();
    expect(existsSync(folder)).toBe(false);
  });

  it("is left there by a run that a test of the run started", () => {
    const outer = makeTestFolder();
    if (outer === undefined) return;
    const inner = outer.replace(`-${process.pid}-`, "-1-");
    mkdirSync(inner);
    process.env.LOOPWRIGHT_TEST_FOLDER = inner;
    expect(makeTestFolder()).toBe(inner);
    teardown();
    expect(existsSync(inner)).toBe(true);
    for (const path of [inner, outer]) rmSync(path, { recursive: true, force: true });
  });

  it("removes that of a run that was killed, and none of a run that lives", () => {
    const folder = makeTestFolder();
    if (folder === undefined) return;
    const memory = join(folder, "..");
    // No process has this number: it is above the largest that Linux gives.
    const [dead, live] = [
      mkdtempSync(join(memory, "loopwright-tests-4194305-")),
      mkdtempSync(join(memory, `loopwright-tests-${process.pid}-`)),
    ];
    mkdirSync(join(dead, "kept"));
    delete process.env.LOOPWRIGHT_TEST_FOLDER;
    const next = makeTestFolder();
    expect([existsSync(dead), existsSync(live)]).toEqual([false, true]);
    for (const path of [live, folder, next]) rmSync(path, { recursive: true, force: true });
  });
});
