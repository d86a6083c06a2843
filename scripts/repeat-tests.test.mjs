import { expect, it } from "vitest";
import { failuresIn, wishesOf } from "./repeat-tests.mjs";

it("runs twenty times, or as often as asked", () => {
  expect(wishesOf([], 0)).toEqual({ count: 20 });
  expect(wishesOf(["3"], 0)).toEqual({ count: 3 });
});

it("runs as root and as a user without rights, each in a folder of both modes; another user runs in their own", () => {
  expect(wishesOf(["--places"], 0).places).toEqual([
    { user: "root", mode: 0o700 },
    { user: "root", mode: 0o755 },
    { user: "nobody", mode: 0o700 },
    { user: "nobody", mode: 0o755 },
  ]);
  expect(wishesOf(["--places"], 1000).places).toEqual([
    { user: "this user", mode: 0o700 },
    { user: "this user", mode: 0o755 },
  ]);
});

it.each([["0"], ["1.5"], ["often"], ["2", "3"]])("refuses what is not a number of runs: %s %s", (...args) => {
  expect(wishesOf(args, 0).problem).toContain(args.at(-1));
});

it("shows each line of a failure once", () => {
  const text = " ✓ a\n FAIL  x.test.ts > b\n FAIL  x.test.ts > b\nloopwright: npx did not provide pnpm\n";
  expect(failuresIn(text)).toEqual([" FAIL  x.test.ts > b", "loopwright: npx did not provide pnpm"]);
});
