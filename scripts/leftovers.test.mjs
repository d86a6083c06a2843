import { describe, expect, it, onTestFinished } from "vitest";
import { leftovers, takeInventory } from "./leftovers.ts";

/** What is found after a change that is undone at once. */
function foundAfter(change, undo) {
  const before = takeInventory();
  onTestFinished(undo);
  change();
  const found = leftovers(before, takeInventory());
  undo();
  expect(leftovers(before, takeInventory())).toEqual([]);
  return found;
}

describe("a test file that leaves something behind is reported", () => {
  it("a variable that is new, changed or gone", () => {
    const { PATH, ...others } = process.env;
    const undo = () => Object.assign(process.env, { PATH, ...others }) && delete process.env.LOOPWRIGHT_LEFT;
    const change = () => {
      process.env.LOOPWRIGHT_LEFT = "1";
      delete process.env.PATH;
    };
    expect(foundAfter(change, undo).sort()).toEqual(["process.env.LOOPWRIGHT_LEFT has changed", "process.env.PATH has changed"]);
  });

  it("an environment that is another object", () => {
    const environment = process.env;
    const change = () => {
      process.env = { ...environment };
    };
    const undo = () => {
      process.env = environment;
    };
    expect(foundAfter(change, undo)).toEqual(["process.env is another object"]);
  });

  it.each([
    ["globalThis.fetch", globalThis, "fetch"],
    ["globalThis.setTimeout", globalThis, "setTimeout"],
    ["Math.random", Math, "random"],
    ["console.error", console, "error"],
    ["process.exit", process, "exit"],
  ])("%s that is replaced", (name, object, key) => {
    const original = Object.getOwnPropertyDescriptor(object, key);
    const change = () => Object.defineProperty(object, key, { ...original, value: () => {} });
    expect(foundAfter(change, () => Object.defineProperty(object, key, original))).toEqual([`${name} is replaced`]);
  });

  it("a property on a prototype that all objects share", () => {
    const change = () => Object.defineProperty(Array.prototype, "last", { value: 1, configurable: true });
    expect(foundAfter(change, () => delete Array.prototype.last)).toEqual(["Array.prototype.last is new"]);
  });

  it("nothing else", () => {
    expect(leftovers(takeInventory(), takeInventory())).toEqual([]);
  });
});
