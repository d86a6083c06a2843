import { isAgentError } from "@loopwright/core";
import { expectSame, expectThat, type StoreKit } from "@loopwright/testing";
import { type RecordOwner, recordLimits, type UserRecords } from "../records/user-records.ts";

/** An empty store. */
export interface RecordsUnderTest {
  readonly records: UserRecords;
  /** Another handle on what this one stored. */
  readonly again: () => Promise<UserRecords>;
}

const anne: RecordOwner = { scope: "team", user: "anne" };
const ben: RecordOwner = { scope: "team", user: "ben" };
const elsewhere: RecordOwner = { scope: "other", user: "anne" };

/** The promises of `UserRecords`. */
export const userRecordsKit: StoreKit<RecordsUnderTest> = [
  {
    id: "put-get",
    promise: "an entry is read as it was put, by every handle, and the last one counts",
    async run(make) {
      const { records, again } = await make();
      const other = await again();
      expectSame([await records.get(anne, "provider", "a"), await records.list(anne, "provider")], [undefined, []], "before");
      await records.put(anne, "provider", { id: "a", value: { text: "é 🔑\n", list: [1, { deep: true }] } });
      expectSame((await other.get(anne, "provider", "a"))?.value, { text: "é 🔑\n", list: [1, { deep: true }] }, "the first value");
      await records.put(anne, "provider", { id: "a", value: { text: "second" } });
      expectSame((await other.get(anne, "provider", "a"))?.value, { text: "second" }, "the second value");
      const listed = await (await again()).list(anne, "provider");
      expectSame(
        listed.map(({ id, value }) => [id, value]),
        [["a", { text: "second" }]],
        "the list",
      );
    },
  },
  {
    id: "order",
    promise: "entries are listed in the order in which their ids were first put",
    async run(make) {
      const { records } = await make();
      for (const id of ["c", "a", "b", "c"]) await records.put(anne, "provider", { id, value: { id } });
      expectSame(
        (await records.list(anne, "provider")).map(({ id }) => id),
        ["c", "a", "b"],
        "ids",
      );
    },
  },
  {
    id: "apart",
    promise: "users, scopes and kinds are apart, also where their names would read alike in a row",
    async run(make) {
      const { records } = await make();
      await records.put(anne, "provider", { id: "a", value: { of: "anne" } });
      for (const owner of [ben, elsewhere, { scope: "teamanne", user: "" }, { scope: "team", user: "anne/provider" }]) {
        expectSame(
          [await records.get(owner, "provider", "a"), await records.list(owner, "provider")],
          [undefined, []],
          "what another sees",
        );
        expectSame(await records.remove(owner, "provider", { id: "a" }), false, "what another removes");
      }
      expectSame([await records.get(anne, "settings", "a"), await records.list(anne, "settings")], [undefined, []], "another kind");
      expectSame((await records.get(anne, "provider", "a"))?.value, { of: "anne" }, "the entry");
    },
  },
  {
    id: "revisions",
    promise:
      "each put gives another revision, a change or removal of an expected one is refused where another writer came first, and nothing is lost",
    async run(make) {
      const { records, again } = await make();
      const other = await again();
      const put = (by: UserRecords, text: string, expected?: string | null): Promise<string | undefined> =>
        by.put(anne, "provider", { id: "a", value: { text }, ...(expected === undefined ? {} : { expected }) });
      const first = await put(records, "first", null);
      expectThat(typeof first === "string", "An entry that was not there could not be put.");
      expectSame(await put(other, "again", null), undefined, "a second first one");
      expectSame((await other.get(anne, "provider", "a"))?.revision, first, "the revision that is read");
      const second = await put(other, "second", first);
      expectThat(typeof second === "string" && second !== first, "A change has the revision of what it changed.");
      expectSame(await put(records, "late", first), undefined, "a change of what was changed");
      expectSame(await records.remove(anne, "provider", { id: "a", expected: first ?? "" }), false, "a removal of what was changed");
      expectSame((await records.list(anne, "provider"))[0], { id: "a", value: { text: "second" }, revision: second ?? "" }, "what is kept");
      const both = await Promise.all([put(records, "one", second), put(other, "two", second)]);
      expectSame(both.filter((revision) => revision !== undefined).length, 1, "writers that win");
      const [won = ""] = both.filter((revision) => revision !== undefined);
      expectSame(await records.remove(anne, "provider", { id: "a", expected: won }), true, "the removal");
      expectSame(await put(records, "lost", won), undefined, "a change of what was removed");
      const anew = await put(records, "anew");
      expectThat(![first, second, won, undefined].includes(anew), "An entry that was put again has a revision of before.");
    },
  },
  {
    id: "removed",
    promise: "a removed entry is gone, and the removal reports whether there was one",
    async run(make) {
      const { records, again } = await make();
      await records.put(anne, "provider", { id: "a", value: {} });
      await records.put(anne, "provider", { id: "b", value: {} });
      const remove = (): Promise<boolean> => records.remove(anne, "provider", { id: "a" });
      expectSame([await remove(), await remove()], [true, false], "removals");
      expectSame(
        (await (await again()).list(anne, "provider")).map(({ id }) => id),
        ["b"],
        "left",
      );
    },
  },
  {
    id: "bounds",
    promise: "one entry too many is STORE_FULL and one that is too large PAYLOAD_TOO_LARGE; entries that exist can be changed all the same",
    async run(make) {
      const { records } = await make();
      for (let at = 0; at < recordLimits.perKindMax; at++) await records.put(anne, "provider", { id: `n${at}`, value: {} });
      const code = (call: Promise<unknown>): Promise<string> =>
        call.then(
          () => "none",
          (error: unknown) => (isAgentError(error) ? error.code : "another"),
        );
      expectSame(await code(records.put(anne, "provider", { id: "more", value: {} })), "STORE_FULL", "one more");
      expectSame(await code(records.put(ben, "provider", { id: "more", value: {} })), "none", "of another user");
      expectSame(await code(records.put(anne, "provider", { id: "n0", value: { changed: true } })), "none", "a change");
      const large = { text: "x".repeat(recordLimits.valueBytes) };
      expectSame(await code(records.put(ben, "settings", { id: "own", value: large })), "PAYLOAD_TOO_LARGE", "a large one");
      expectThat((await records.get(ben, "settings", "own")) === undefined, "A large entry was stored.");
    },
  },
];
