import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAgentError } from "@loopwright/core";
import { proveKit, runKit, type Saboteur } from "@loopwright/testing";
import { afterEach, describe, expect, it } from "vitest";
import { memoryRecords, type UserRecords } from "../src/index.ts";
import { sqliteRecords } from "../src/node/index.ts";
import { type RecordsUnderTest, userRecordsKit } from "../src/testing/index.ts";

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0).reverse()) cleanUp();
});

function file(): string {
  const folder = mkdtempSync(join(tmpdir(), "loopwright-settings-"));
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "deep", "settings.db");
}

describe("entries in memory keep every promise", () =>
  runKit(it, userRecordsKit, {
    make: async () => {
      const records = memoryRecords();
      return { records, again: async () => records };
    },
  }));

describe("entries in SQLite keep every promise", () =>
  runKit(it, userRecordsKit, {
    make: async () => {
      const path = file();
      const open = (): UserRecords => {
        const records = sqliteRecords({ path });
        cleanUps.push(() => records.close());
        return records;
      };
      return { records: open(), again: async () => open() };
    },
  }));

it("a file of entries is for this user's eyes only, and one that cannot be opened is STORE_UNAVAILABLE", () => {
  const path = file();
  sqliteRecords({ path }).close();
  expect((statSync(path).mode & 0o777).toString(8)).toBe("600");
  expect(() => sqliteRecords({ path: join(path, "x") })).toThrow(
    expect.toSatisfy((error: unknown) => isAgentError(error, "STORE_UNAVAILABLE")),
  );
});

const spoiled = (spoil: (honest: UserRecords) => Partial<UserRecords>) => async (): Promise<RecordsUnderTest> => {
  const honest = memoryRecords();
  const records: UserRecords = { ...honest, ...spoil(honest) };
  return { records, again: async () => records };
};

const saboteurs: readonly Saboteur<RecordsUnderTest>[] = [
  {
    defect: "keeps the first value",
    breaks: ["put-get"],
    make: spoiled((honest) => ({
      put: async (owner, kind, record) => ((await honest.get(owner, kind, record.id)) ? undefined : honest.put(owner, kind, record)),
    })),
  },
  {
    defect: "moves a changed entry to the end of the list",
    breaks: ["order"],
    make: spoiled((honest) => ({
      async put(owner, kind, record) {
        const isChange = (await honest.get(owner, kind, record.id)) !== undefined && JSON.stringify(record.value).length <= 1_000;
        if (isChange) await honest.remove(owner, kind, record.id);
        await honest.put(owner, kind, record);
      },
    })),
  },
  {
    defect: "gives every user of a scope the same entries",
    breaks: ["apart", "bounds"],
    make: spoiled((honest) => ({
      get: ({ scope }, kind, id) => honest.get({ scope, user: "" }, kind, id),
      list: ({ scope }, kind) => honest.list({ scope, user: "" }, kind),
      put: ({ scope }, kind, record) => honest.put({ scope, user: "" }, kind, record),
      remove: ({ scope }, kind, id) => honest.remove({ scope, user: "" }, kind, id),
    })),
  },
  {
    defect: "always reports that something was removed",
    breaks: ["apart", "removed"],
    make: spoiled((honest) => ({ remove: async (...entry) => (await honest.remove(...entry)) || true })),
  },
  {
    defect: "refuses changes where it is full",
    breaks: ["bounds"],
    make: spoiled((honest) => ({
      async put(owner, kind, record) {
        if ((await honest.list(owner, kind)).length >= 50) await honest.put(owner, kind, { id: "one more", value: {} });
        await honest.put(owner, kind, record);
      },
    })),
  },
];

describe("the kit of entries", () => proveKit(it, userRecordsKit, saboteurs));
