import { isAgentError } from "@loopwright/core";
import { describe, expect, test } from "vitest";
import { redisUrlOf, storePlaceOf, storeText, withoutSecret } from "./store-place.ts";

const directory = "/project";

describe("a store", () => {
  test.each([
    [undefined, { kind: "sqlite", file: "/project/.loopwright/sessions.db" }],
    ["sqlite", { kind: "sqlite", file: "/project/.loopwright/sessions.db" }],
    ["sqlite:mine.db", { kind: "sqlite", file: "/project/mine.db" }],
    ["sqlite:///var/mine.db", { kind: "sqlite", file: "/var/mine.db" }],
    ["mine.db", { kind: "sqlite", file: "/project/mine.db" }],
    ["/var/mine.db", { kind: "sqlite", file: "/var/mine.db" }],
    ["C:\\mine.db", { kind: "sqlite", file: "/project/C:\\mine.db" }],
    ["redis://:pass@host:6380/2", { kind: "redis", url: "redis://:pass@host:6380/2" }],
    ["rediss://host", { kind: "redis", url: "rediss://host" }],
    ["file:kept", { kind: "files", folder: "/project/kept" }],
    ["file:///var/kept", { kind: "files", folder: "/var/kept" }],
    ["s3://bucket", { kind: "s3", bucket: "bucket", prefix: "" }],
    ["s3://bucket/a/b", { kind: "s3", bucket: "bucket", prefix: "a/b/" }],
  ])("%s is known", (text, place) => {
    expect(storePlaceOf(text, directory)).toEqual(place);
  });

  test.each(["postgres://user:pa55@host/db", "redis:6379", "redis://", "s3://", "s3://key:pa55@bucket"])(
    "%s is none, and is not repeated",
    (text) => {
      let error: unknown;
      try {
        storePlaceOf(text, directory);
      } catch (thrown) {
        error = thrown;
      }
      expect(isAgentError(error, "CONFIG_INVALID")).toBe(true);
      expect(JSON.stringify(isAgentError(error) ? [error.message, error.fix] : [])).not.toContain("pa55");
    },
  );

  test.each([
    ["redis://user:pa55@host:6380/2?x=pa55", "redis://host:6380/2"],
    ["redis://:pa55@host", "redis://host"],
  ])("on a Redis is shown without what opens it", (url, shown) => {
    expect([storeText({ kind: "redis", url }), withoutSecret(redisUrlOf(url, "the queue"))]).toEqual([shown, shown]);
  });
});
