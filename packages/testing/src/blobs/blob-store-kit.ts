import type { BlobStore } from "@loopwright/core/ports";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreKit } from "../kit/store-case.ts";
import { noteBatch } from "../samples/sample-facts.ts";
import type { BlobsUnderTest } from "./blobs-under-test.ts";
import { ownerCases } from "./owner-cases.ts";

const first = { scope: "local", session: "first" };
const second = { scope: "local", session: "second" };

const bytes = (...values: readonly number[]): Uint8Array => Uint8Array.from(values);

async function bytesOf(blobs: BlobStore, key: string, scope = "local"): Promise<readonly number[] | undefined> {
  const blob = await blobs.get(scope, key);
  return blob && [...blob.bytes];
}

/** Bytes whose `slice` is a view, as with a Buffer of Node.js. */
class SharingArray extends Uint8Array<ArrayBuffer> {
  override slice(from?: number, to?: number): SharingArray {
    return this.subarray(from, to) as SharingArray;
  }
}

/** The promises of `BlobStore`. Capabilities: `reopen`, `log`. */
export const blobStoreKit: StoreKit<BlobsUnderTest> = [
  {
    id: "round-trip",
    promise: "bytes come back as they were put, with their media type, also none at all",
    async run(make) {
      const { blobs } = await make();
      const all = Uint8Array.from({ length: 256 }, (_, index) => index);
      expectSame(await blobs.put("local", "all", { bytes: all, mediaType: "image/png" }), true, "the answer");
      await blobs.put("local", "empty", { bytes: bytes() });
      expectSame(await bytesOf(blobs, "all"), [...all], "256 bytes");
      expectSame(await bytesOf(blobs, "empty"), [], "no bytes");
      expectSame(
        [(await blobs.get("local", "all"))?.mediaType, (await blobs.get("local", "empty"))?.mediaType],
        ["image/png", undefined],
        "media types",
      );
    },
  },
  {
    id: "large",
    promise: "a blob of 5 MB comes back whole",
    async run(make) {
      const { blobs } = await make();
      const large = new Uint8Array(5_000_000).fill(7);
      large[4_999_999] = 9;
      await blobs.put("local", "large", { bytes: large });
      const back = (await blobs.get("local", "large"))?.bytes;
      expectThat(back?.length === large.length && back.every((value, index) => value === large[index]), "the bytes differ");
    },
  },
  {
    id: "part-of-buffer",
    promise: "a view on a larger buffer is stored as the view alone",
    async run(make) {
      const { blobs } = await make();
      await blobs.put("local", "view", { bytes: bytes(1, 2, 3, 4, 5).subarray(1, 4) });
      expectSame(await bytesOf(blobs, "view"), [2, 3, 4], "the bytes");
    },
  },
  {
    id: "own-copy",
    promise: "the store keeps its own copy: neither the writer's nor a reader's array changes it, and the writer may reuse its array",
    async run(make) {
      const { blobs } = await make();
      const mine = bytes(1, 2, 3);
      await blobs.put("local", "copy", { bytes: mine });
      expectSame([...mine], [1, 2, 3], "the writer's array");
      mine[0] = 9;
      const read = await blobs.get("local", "copy");
      if (read) read.bytes[1] = 9;
      expectSame(await bytesOf(blobs, "copy"), [1, 2, 3], "the bytes");
    },
  },
  {
    id: "shared-slice",
    promise: "the store keeps its own copy of an array whose `slice` shares its memory, as that of a Buffer does",
    async run(make) {
      const { blobs } = await make();
      const mine = new SharingArray(new Uint8Array([1, 2, 3]).buffer);
      await blobs.put("local", "sliced", { bytes: mine });
      expectSame([...mine], [1, 2, 3], "the writer's array");
      mine[0] = 9;
      expectSame(await bytesOf(blobs, "sliced"), [1, 2, 3], "the bytes");
    },
  },
  {
    id: "overwrite",
    promise: "putting again replaces the value and its media type",
    async run(make) {
      const { blobs } = await make();
      await blobs.put("local", "key", { bytes: bytes(1), mediaType: "a/b" });
      expectSame(await blobs.put("local", "key", { bytes: bytes(2) }), true, "the answer");
      expectSame([await bytesOf(blobs, "key"), (await blobs.get("local", "key"))?.mediaType], [[2], undefined], "the value");
    },
  },
  {
    id: "if-absent",
    promise: "with `ifAbsent` an existing value stays and the answer is false; of several at once exactly one writes",
    async run(make) {
      const { blobs } = await make();
      const answers = await Promise.all([1, 2, 3].map((value) => blobs.put("local", "key", { bytes: bytes(value), ifAbsent: true })));
      expectSame(answers.filter((written) => written).length, 1, "writers");
      const before = await bytesOf(blobs, "key");
      expectSame(await blobs.put("local", "key", { bytes: bytes(9), ifAbsent: true }), false, "the answer");
      expectSame(await bytesOf(blobs, "key"), before, "the value");
    },
  },
  {
    id: "absent",
    promise: "an unknown key gives undefined, and removing it answers false",
    async run(make) {
      const { blobs } = await make();
      expectSame(await blobs.get("local", "nothing"), undefined, "the value");
      expectSame(await blobs.remove("local", "nothing"), false, "the removal");
    },
  },
  {
    id: "remove",
    promise: "a removed blob is gone, and its key may be used again",
    async run(make) {
      const { blobs } = await make();
      await blobs.put("local", "key", { bytes: bytes(1) });
      expectSame(await blobs.remove("local", "key"), true, "the removal");
      expectSame(await bytesOf(blobs, "key"), undefined, "the value");
      expectSame(await blobs.put("local", "key", { bytes: bytes(2), ifAbsent: true }), true, "a new value");
    },
  },
  {
    id: "scopes-apart",
    promise: "the same key in two scopes is two blobs",
    async run(make) {
      const { blobs } = await make();
      await blobs.put("local", "key", { bytes: bytes(1) });
      expectSame(await bytesOf(blobs, "key", "other"), undefined, "the other scope");
      expectSame(await blobs.list("other"), [], "its list");
      expectSame(await blobs.remove("other", "key"), false, "a removal there");
    },
  },
  {
    id: "list",
    promise: "keys are listed in ascending order, by prefix, after a key, up to a limit; no character of a prefix is special",
    async run(make) {
      const { blobs } = await make();
      for (const key of ["b", "a/2", "a/1", "a%", "A/1", "a_1", "é"]) await blobs.put("local", key, { bytes: bytes(1) });
      expectSame(await blobs.list("local"), ["A/1", "a%", "a/1", "a/2", "a_1", "b", "é"], "all");
      expectSame(await blobs.list("local", { prefix: "a/" }), ["a/1", "a/2"], "by prefix");
      expectSame(await blobs.list("local", { prefix: "a%" }), ["a%"], "a prefix with a per cent sign");
      expectSame(await blobs.list("local", { after: "a/1", limit: 2 }), ["a/2", "a_1"], "after a key");
    },
  },
  {
    id: "session-owns",
    promise: "what a session owns is found with and without its name, is listed once, and is written once under `ifAbsent`",
    async run(make) {
      const { blobs } = await make();
      const own = { bytes: bytes(1, 2), mediaType: "a/b", session: "first", ifAbsent: true };
      expectSame([await blobs.put("local", "key", own), await blobs.put("local", "key", own)], [true, false], "the answers");
      await blobs.put("local", "key", { bytes: bytes(1, 2), session: "second" });
      expectSame(await blobs.get("local", "key", { session: "first" }), { bytes: bytes(1, 2), mediaType: "a/b" }, "with its name");
      expectSame(await bytesOf(blobs, "key"), [1, 2], "without a name");
      expectSame((await blobs.get("local", "key", { session: "third" }))?.bytes, bytes(1, 2), "with another's name");
      expectSame([await blobs.list("local"), await blobs.list("other")], [["key"], []], "the lists");
    },
  },
  {
    id: "remove-all-owners",
    promise: "removing a blob takes the values of all its owners",
    async run(make) {
      const { blobs } = await make();
      await blobs.put("local", "key", { bytes: bytes(1) });
      for (const session of ["first", "second"]) await blobs.put("local", "key", { bytes: bytes(1), session });
      expectSame(await blobs.remove("local", "key"), true, "the removal");
      expectSame(await blobs.get("local", "key", { session: "first" }), undefined, "the value");
      expectSame(await blobs.list("local"), [], "the list");
    },
  },
  {
    id: "erased-with-session",
    promise: "removing a session erases what it alone owns, and leaves what belongs to others or to the scope",
    needs: ["log"],
    async run(make) {
      const { blobs, log } = await make();
      await log?.append(first, noteBatch("b1", 0));
      await blobs.put("local", "own", { bytes: bytes(1), session: "first" });
      await blobs.put("local", "second's", { bytes: bytes(2), session: "second" });
      await blobs.put("local", "scope's", { bytes: bytes(3) });
      await blobs.put("other", "own", { bytes: bytes(4), session: "first" });
      await log?.remove(first);
      expectSame(await blobs.get("local", "own", { session: "first" }), undefined, "what it owned");
      expectSame(await blobs.list("local"), ["scope's", "second's"], "what is left");
      expectSame([await bytesOf(blobs, "second's"), await bytesOf(blobs, "scope's")], [[2], [3]], "what others own");
      expectSame(await bytesOf(blobs, "own", "other"), [4], "what a session of the same id owns in another scope");
    },
  },
  {
    id: "last-owner",
    promise: "a blob of two sessions stays until both are removed",
    needs: ["log"],
    async run(make) {
      const { blobs, log } = await make();
      for (const session of ["first", "second"]) await blobs.put("local", "shared", { bytes: bytes(1), session, ifAbsent: true });
      await log?.remove(first);
      expectSame(await bytesOf(blobs, "shared"), [1], "after one of them");
      expectSame((await blobs.get("local", "shared", { session: "second" }))?.bytes, bytes(1), "for the other");
      await log?.remove(second);
      expectSame(await bytesOf(blobs, "shared"), undefined, "after both");
      expectSame(await blobs.list("local"), [], "the list");
    },
  },
  {
    id: "taken-over",
    promise: "what a session takes over belongs to the scope no longer: it is erased with the last session that did so",
    needs: ["log"],
    async run(make) {
      const { blobs, log } = await make();
      expectSame(await blobs.own("local", "upload", "first"), false, "before it is there");
      await blobs.put("local", "upload", { bytes: bytes(1), mediaType: "image/png" });
      const answers = [await blobs.own("local", "upload", "first"), await blobs.own("local", "upload", "first")];
      expectSame([...answers, await blobs.own("local", "upload", "second")], [true, true, true], "the answers");
      expectSame(await blobs.list("local"), ["upload"], "the list");
      await log?.remove(first);
      expectSame(await blobs.get("local", "upload"), { bytes: bytes(1), mediaType: "image/png" }, "after the first");
      await log?.remove(second);
      expectSame(await blobs.get("local", "upload"), undefined, "after both");
      expectSame(await blobs.list("local"), [], "the list");
    },
  },
  {
    id: "given-again",
    promise: "what the scope is given again after a session took it over stays when that session is removed",
    needs: ["log"],
    async run(make) {
      const { blobs, log } = await make();
      await blobs.put("local", "upload", { bytes: bytes(1) });
      await blobs.own("local", "upload", "first");
      expectSame(await blobs.put("local", "upload", { bytes: bytes(1), ifAbsent: true }), true, "the answer");
      await log?.remove(first);
      expectSame(await bytesOf(blobs, "upload"), [1], "the value");
    },
  },
  {
    id: "late-owner",
    promise: "nothing is kept for a session that was removed",
    needs: ["log"],
    async run(make) {
      const { blobs, log } = await make();
      await blobs.put("local", "upload", { bytes: bytes(1) });
      await log?.append(first, noteBatch("b1", 0));
      await log?.remove(first);
      expectSame(await blobs.put("local", "late", { bytes: bytes(2), session: "first" }), false, "the put");
      expectSame(await blobs.own("local", "upload", "first"), false, "taking over");
      expectSame([await blobs.list("local"), await bytesOf(blobs, "upload")], [["upload"], [1]], "what is there");
    },
  },
  ...ownerCases,
  {
    id: "reopen",
    promise: "blobs are there after the store was closed and opened again",
    needs: ["reopen"],
    async run(make) {
      const subject = await make();
      await subject.blobs.put("local", "key", { bytes: bytes(1, 2) });
      const blobs = (await subject.reopen?.()) ?? subject.blobs;
      expectSame(await bytesOf(blobs, "key"), [1, 2], "the bytes");
    },
  },
];
