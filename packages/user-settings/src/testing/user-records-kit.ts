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
      expectSame(await other.get(anne, "provider", "a"), { text: "é 🔑\n", list: [1, { deep: true }] }, "the first value");
      await records.put(anne, "provider", { id: "a", value: { text: "second" } });
      expectSame(await other.get(anne, "provider", "a"), { text: "second" }, "the second value");
      expectSame(await (await again()).list(anne, "provider"), [{ id: "a", value: { text: "second" } }], "the list");
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
        expectSame(await records.remove(owner, "provider", "a"), false, "what another removes");
      }
      expectSame([await records.get(anne, "settings", "a"), await records.list(anne, "settings")], [undefined, []], "another kind");
      expectSame(await records.get(anne, "provider", "a"), { of: "anne" }, "the entry");
    },
  },
  {
    id: "removed",
    promise: "a removed entry is gone, and the removal reports whether there was one",
    async run(make) {
      const { records, again } = await make();
      await records.put(anne, "provider", { id: "a", value: {} });
      await records.put(anne, "provider", { id: "b", value: {} });
      expectSame([await records.remove(anne, "provider", "a"), await records.remove(anne, "provider", "a")], [true, false], "removals");
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
      const code = (call: Promise<void>): Promise<string> =>
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
