/*
 * Test files share a worker (`isolate: false`), so what one leaves behind changes the next. This set-up file runs for each test file and fails
 * the file that leaves something behind, by name.
 */
import { afterAll, expect } from "vitest";
import { leftovers, takeInventory } from "./leftovers.ts";

const before = takeInventory();

afterAll(() => {
  expect(leftovers(before, takeInventory()), "this test file left something behind for the next one").toEqual([]);
});
