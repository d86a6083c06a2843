import type { BlobStore } from "@loopwright/core/ports";
import { expectSame } from "../kit/kit.ts";
import type { StoreKit } from "../kit/store-case.ts";
import { noteBatch } from "../samples/sample-facts.ts";
import type { BlobsUnderTest } from "./blobs-under-test.ts";

const scope = "local";
const upload = { bytes: Uint8Array.of(1, 2, 3), mediaType: "image/png" };
const kept = { bytes: upload.bytes, mediaType: "image/png" };

const refOf = (session: string) => ({ scope, session });

/** What each session has of the upload. */
const ofEach = (blobs: BlobStore, sessions: readonly string[]) =>
  Promise.all(sessions.map((session) => blobs.get(scope, "upload", { session })));

/** Promises about blobs with several owners: forks, repeated additions, and what happens at once. */
export const ownerCases: StoreKit<BlobsUnderTest> = [
  {
    id: "fork",
    promise: "a fork becomes an owner of what its origin alone owns, also twice, and either of them may be erased first",
    needs: ["log"],
    async run(make) {
      for (const [gone, left] of [
        ["origin", "fork"],
        ["fork", "origin"],
      ] as const) {
        const { blobs, log } = await make();
        await blobs.put(scope, "upload", { ...upload, session: "origin" });
        const answers = [await blobs.own(scope, "upload", "fork"), await blobs.own(scope, "upload", "fork")];
        expectSame(answers, [true, true], "the answers");
        expectSame(await ofEach(blobs, ["origin", "fork"]), [kept, kept], "what both have");
        await log?.remove(refOf(gone));
        expectSame(await blobs.get(scope, "upload", { session: left }), kept, `what the ${left} has after the ${gone} was erased`);
        await log?.remove(refOf(left));
        expectSame([await blobs.get(scope, "upload"), await blobs.list(scope)], [undefined, []], "what is left of both");
      }
    },
  },
  {
    id: "owners-at-once",
    promise: "sessions that take an upload over at once all own it: it is erased with the last of them",
    needs: ["log"],
    async run(make) {
      const { blobs, log } = await make();
      const sessions = ["one", "two", "three", "four"];
      await blobs.put(scope, "upload", upload);
      const answers = await Promise.all([...sessions, ...sessions].map((session) => blobs.own(scope, "upload", session)));
      expectSame(new Set(answers), new Set([true]), "the answers");
      for (const [index, session] of sessions.entries()) {
        expectSame(await blobs.get(scope, "upload", { session }), kept, `what the session \`${session}\` has`);
        await log?.remove(refOf(session));
        expectSame((await blobs.list(scope)).length, index < sessions.length - 1 ? 1 : 0, "keys in the list");
      }
    },
  },
  {
    id: "owner-meanwhile",
    promise: "where an owner is erased while another is added, the new one has the blob, or is refused and there is none",
    needs: ["log"],
    async run(make) {
      const { blobs, log } = await make();
      for (let round = 0; round < 5; round++) {
        const [origin, fork] = [`origin${round}`, `fork${round}`];
        await log?.append(refOf(origin), noteBatch("b1", 0));
        await blobs.put(scope, "upload", { ...upload, session: origin });
        const [isOwner] = await Promise.all([blobs.own(scope, "upload", fork), log?.remove(refOf(origin))]);
        expectSame(await blobs.get(scope, "upload", { session: fork }), isOwner ? kept : undefined, "what the fork has");
        await log?.remove(refOf(fork));
        expectSame(await blobs.list(scope), [], "what is left of both");
      }
    },
  },
  {
    id: "remove-if-unused",
    promise:
      "a removal of what is not used leaves what a session owns, also beside a value of the scope, and removes what the scope alone has",
    needs: ["log"],
    async run(make) {
      const { blobs, log } = await make();
      const removed = (): Promise<boolean> => blobs.remove(scope, "upload", { ifUnused: true });
      expectSame(await removed(), false, "the removal of what is not there");
      await blobs.put(scope, "upload", upload);
      expectSame([await removed(), await blobs.list(scope)], [true, []], "the removal of what the scope has, and the list");
      await blobs.put(scope, "upload", upload);
      await blobs.own(scope, "upload", "reader");
      expectSame(
        [await removed(), ...(await ofEach(blobs, ["reader"]))],
        [false, kept],
        "the removal of what a session has, and its value",
      );
      await blobs.put(scope, "upload", upload);
      expectSame(
        [await removed(), ...(await ofEach(blobs, ["reader"]))],
        [false, kept],
        "the removal of what both have, and the session's value",
      );
      await log?.remove(refOf("reader"));
      expectSame([await removed(), await blobs.list(scope)], [true, []], "the removal after the session was erased, and the list");
    },
  },
  {
    id: "owner-while-removed",
    promise: "a session that takes over what is being removed because nothing uses it has the value, or is refused and there is none",
    needs: ["log"],
    async run(make) {
      const { blobs, log } = await make();
      for (let round = 0; round < 5; round++) {
        const session = `reader${round}`;
        await blobs.put(scope, "upload", upload);
        const [isOwner] = await Promise.all([blobs.own(scope, "upload", session), blobs.remove(scope, "upload", { ifUnused: true })]);
        expectSame(await blobs.get(scope, "upload", { session }), isOwner ? kept : undefined, "what the session has");
        await log?.remove(refOf(session));
        await blobs.remove(scope, "upload");
      }
    },
  },
];
