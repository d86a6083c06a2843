import { expect, it } from "vitest";
import { checkBlobs } from "./check-blobs.ts";

const gone = { session: "v1", key: "sha256-1", isRemoved: true, isReadable: false };
const kept = { session: "v2", key: "sha256-2", isRemoved: false, isReadable: true };

it("takes payloads that went with their session, and those that stay with theirs", () => {
  expect(checkBlobs([gone, kept])).toEqual([]);
});

it("finds a payload that outlived its session, and one that went with another", () => {
  expect(
    checkBlobs([
      { ...gone, isReadable: true },
      { ...kept, isReadable: false },
    ]),
  ).toEqual(["D6: v1 was removed and its payload sha256-1 can be read", "D6: the payload sha256-2 of v2 is gone, and v2 is not"]);
});
