import { viewOf } from "@loopwright/client";
import { expect, it } from "vitest";
import { longSession } from "../../../test/harness/sample-session.ts";
import { messageRows } from "../rows/message-rows.ts";
import { findRows } from "./find-rows.ts";

const rows = messageRows(viewOf(longSession(50)), []);

it("words are found in every message, in small letters and large, over any white space", () => {
  const places = findRows(rows, " How the  LOG replaces ");
  expect(places.length).toBeGreaterThan(1);
  expect(places).toEqual([...places].sort((a, b) => a - b));
});

it("nothing is found for no words, nor for words that are in no message", () => {
  expect(findRows(rows, "  ")).toEqual([]);
  expect(findRows(rows, "rhinoceros")).toEqual([]);
});
