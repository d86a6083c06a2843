import { expect, it } from "vitest";
import { blobKeyOf, blobNameOf, blobPrefixOf, dueMarkKey, dueMarkOf, markedDate, snapshotKeyOf } from "./object-keys.ts";

it("any key of a blob becomes a safe one, and comes back", () => {
  const names = [
    "sha256-00ff",
    "../../etc/passwd",
    "A",
    "a",
    "é👩‍👩‍👧",
    " ",
    "a~/b",
    "=41",
    "\u0000",
    "x".repeat(200),
    "x".repeat(201),
    "x".repeat(800),
  ];
  const keys = names.map((name) => blobKeyOf("local", name));
  expect(new Set(keys).size).toBe(names.length);
  for (const [at, key] of keys.entries()) {
    expect(key).toMatch(/^blobs\/local\/[a-z0-9_=~/-]+$/);
    expect(key.split("/").every((segment) => segment.length <= 201 && segment !== "")).toBe(true);
    expect(blobNameOf("local", key)).toBe(names[at]);
  }
});

it("the key of a blob begins with that of each of its beginnings, wherever that ends", () => {
  const name = `${"ab/".repeat(150)}end`;
  for (let length = 0; length <= name.length; length++)
    expect(blobKeyOf("local", name).startsWith(blobPrefixOf("local", name.slice(0, length))), `${length}`).toBe(true);
});

it("a key that is empty or too long is refused", () => {
  expect(() => blobKeyOf("local", "")).toThrow("too short");
  expect(() => blobKeyOf("local", "x".repeat(801))).toThrow("too long");
  expect(() => blobKeyOf("Local", "x")).toThrow("is not an id");
  expect(() => snapshotKeyOf({ scope: "local", session: "../x" }, "lane")).toThrow("is not an id");
});

it("the mark of a date comes back from its key, and marks are in the order of their dates", () => {
  const mark = { ref: { scope: "a", session: "b-c" }, date: 1_767_225_600_000, slot: 12 };
  expect(dueMarkOf(dueMarkKey(mark))).toEqual(mark);
  expect(dueMarkKey({ ...mark, date: 0 }) < dueMarkKey(mark)).toBe(true);
  expect(dueMarkOf("due/x")).toBeUndefined();
  expect([-5, 0.9, 7.9, Number.POSITIVE_INFINITY].map(markedDate)).toEqual([0, 0, 7, Number.MAX_SAFE_INTEGER]);
});
