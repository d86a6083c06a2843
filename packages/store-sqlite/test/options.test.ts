import { sqliteStore } from "@loopwright/store-sqlite";
import { expect, it } from "vitest";

const any = (value: unknown): never => value as never;

it.each([
  ["an option that does not exist", { file: "sessions.db" }, /no option `file`/, /path/],
  ["a typing error", { path: "sessions.db", sizeMaxByte: 1 }, /no option `sizeMaxByte`/, /sizeMaxBytes/],
  ["no path", {}, /no `path`/, /sqliteStore/],
  ["an empty path", "", /no `path`/, /sqliteStore/],
  ["a path that is no text", { path: 7 }, /no `path`/, /sqliteStore/],
  ["nothing", undefined, /no `path`/, /sqliteStore/],
])("%s is refused at the start with what to write", (_, options, message, fix) => {
  expect(() => sqliteStore(any(options))).toThrow(
    expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringMatching(message), fix: expect.stringMatching(fix) }),
  );
});
