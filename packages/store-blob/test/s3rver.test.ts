import { join } from "node:path";
import { systemClock } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import { blobStore, s3Blobs } from "../src/index.ts";
import { freshFolder } from "./fresh-folder.ts";
import { noteBatch, ref, titlesOf, writeNotes } from "./notes.ts";

const directory = freshFolder();
const needed = 24;
const hasNode = Number(process.versions.node.split(".")[0]) >= needed;

it.skipIf(!hasNode)(
  `a store keeps its sessions in an S3 server of another hand${hasNode ? "" : ` (skipped: it needs Node.js ${needed})`}`,
  async () => {
    const { default: S3rver } = await import("@20minutes/s3rver");
    const server = new S3rver({
      port: 0,
      address: "127.0.0.1",
      silent: true,
      directory: join(directory, "data"),
      configureBuckets: [{ name: "sessions" }],
    });
    const { port } = await server.run();
    try {
      const place = {
        endpoint: `http://127.0.0.1:${port}`,
        region: "us-east-1",
        bucket: "sessions",
        accessKeyId: "S3RVER",
        secretAccessKey: "S3RVER",
        // A machine with other things to do may need longer for an answer than a service of its own.
        deadlineMs: 60_000,
      };
      const many = blobStore({ blobs: s3Blobs({ ...place, prefix: "many/" }) });
      await expect(many.log.append(ref, noteBatch("b1", 0))).rejects.toMatchObject({ code: "CONFIG_INVALID" });

      const open = () =>
        blobStore({ blobs: s3Blobs({ ...place, prefix: "a prefix/", singleWriter: true, clock: systemClock }), compactAfter: 8 });
      const first = open();
      await writeNotes(first.log, 20);
      await first.blobs.put("local", "Ein Bild & <mehr>.png", { bytes: new Uint8Array([1, 2, 3]), mediaType: "image/png" });
      expect(await first.log.claim(ref, { node: "one", leaseMs: 15_000 })).toEqual({ type: "claimed", epoch: 1, lastSeq: 20 });
      await first.close();

      const second = open();
      expect((await titlesOf(second.log)).length).toBe(20);
      expect(await second.log.append(ref, noteBatch("b3", 20))).toEqual({ type: "dup", lastSeq: 3 });
      expect(await second.blobs.list("local")).toEqual(["Ein Bild & <mehr>.png"]);
      expect(await second.blobs.get("local", "Ein Bild & <mehr>.png")).toEqual({
        bytes: new Uint8Array([1, 2, 3]),
        mediaType: "image/png",
      });
      expect((await second.index.list("local")).map(({ id, lastSeq }) => [id, lastSeq])).toEqual([["first", 20]]);
      // The one before is gone, and its lease with it.
      expect(await second.log.claim(ref, { node: "two", leaseMs: 15_000 })).toEqual({ type: "claimed", epoch: 2, lastSeq: 20 });
      await second.log.remove(ref);
      expect(await second.log.read(ref)).toEqual([]);
      await second.close();
    } finally {
      await server.close();
    }
  },
);
