import type { BlobStore } from "../ports/blob-store.ts";
import { expectSame, expectThat } from "./kit.ts";
import type { StoreKit } from "./store-case.ts";

/** A fresh, empty blob store. */
export interface BlobsUnderTest {
  readonly blobs: BlobStore;
  /** Closes the store and opens it again. Capability `reopen`. */
  readonly reopen?: () => Promise<BlobStore>;
}

const bytes = (...values: readonly number[]): Uint8Array => Uint8Array.from(values);

async function bytesOf(blobs: BlobStore, key: string, scope = "local"): Promise<readonly number[] | undefined> {
  const blob = await blobs.get(scope, key);
  return blob && [...blob.bytes];
}

/** The promises of `BlobStore`. Capabilities: `reopen`. */
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
    promise: "the store keeps its own copy: neither the writer's nor a reader's array changes it, and the writer may go on using his",
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
