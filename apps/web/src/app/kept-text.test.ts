import { expect, it } from "vitest";
import { browserKeptText } from "./kept-text.ts";

it("a browser that keeps nothing does no harm", () => {
  const kept = browserKeptText(() => {
    throw new DOMException("denied", "SecurityError");
  });
  kept.set("a", "b");
  expect([kept.get("a"), kept.keys()]).toEqual([undefined, []]);
});

it("only what is ours is listed", () => {
  const values = new Map([["theirs", "x"]]);
  const storage: Storage = {
    get length() {
      return values.size;
    },
    key: (place) => [...values.keys()][place] ?? null,
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => void values.set(key, value),
    removeItem: (key) => void values.delete(key),
    clear: () => values.clear(),
  };
  const kept = browserKeptText(() => storage);
  kept.set("a", "1");
  kept.set("b", "2");
  kept.set("a", undefined);
  expect([kept.keys(), kept.get("b"), kept.get("theirs")]).toEqual([["b"], "2", undefined]);
});
