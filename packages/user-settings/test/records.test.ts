import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isAgentError } from "@loopwright/core";
import { redisMissing, startRedis } from "@loopwright/simulator/node";
import { fileBlobs } from "@loopwright/store-blob";
import { redisStore } from "@loopwright/store-redis";
import { proveKit, runKit, type Saboteur } from "@loopwright/testing";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { memoryRecords, objectRecords, redisRecords, type UserRecords } from "../src/index.ts";
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

describe.skipIf(redisMissing())("entries in Redis keep every promise", () => {
  let redis: Awaited<ReturnType<typeof startRedis>> | undefined;
  let count = 0;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());
  runKit(it, userRecordsKit, {
    make: async () => {
      const prefix = `test${count++}`;
      const open = (): UserRecords => {
        const store = redisStore({ url: redis?.url ?? "", prefix, deadlineMs: 20_000 });
        cleanUps.push(() => void store.close());
        return redisRecords({ command: (words) => store.command(words), prefix });
      };
      return { records: open(), again: async () => open() };
    },
  });
});

describe("entries in objects under a condition keep every promise", () =>
  runKit(it, userRecordsKit, {
    make: async () => {
      const objects = fileBlobs({ folder: dirname(file()) });
      cleanUps.push(() => void objects.close());
      const open = (): UserRecords => objectRecords({ objects, prefix: "own/" });
      return { records: open(), again: async () => open() };
    },
  }));

it("changes of entries in objects are refused where it is not known what became of them, and found again where they were only slow", async () => {
  const owner = { scope: "team", user: "Änne/../ben" };
  const stored = new Map<string, { bytes: Uint8Array; etag: string }>();
  const outcomes = [
    { type: "full" },
    { type: "unknown" },
    { type: "refused", mayBeOwn: true },
    { type: "refused", mayBeOwn: false },
  ] as const;
  let left = [...outcomes];
  const keys = new Set<string>();
  const records = objectRecords({
    objects: {
      get: async (key) => stored.get(key),
      async put(key, bytes) {
        keys.add(key);
        const [outcome = { type: "written" } as const, ...rest] = left;
        left = rest;
        // The answer of the first try was lost.
        if (outcome.type === "written" || (outcome.type === "refused" && outcome.mayBeOwn))
          stored.set(key, { bytes, etag: `${bytes.length}` });
        return outcome;
      },
    },
  });
  const put = (id: string) => records.put(owner, "settings", { id, value: {} });
  await expect(put("a")).rejects.toMatchObject({ code: "STORE_FULL" });
  await expect(put("a")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  const revision = await put("a");
  expect((await records.get(owner, "settings", "a"))?.revision).toBe(revision);
  await put("b");
  expect((await records.list(owner, "settings")).map(({ id }) => id)).toEqual(["a", "b"]);
  expect([...keys]).toEqual([expect.stringMatching(/^settings\/team\/[0-9a-f]{64}\/settings$/)]);
  left = Array.from({ length: 20 }, () => ({ type: "refused", mayBeOwn: false }) as const);
  await expect(put("c")).rejects.toMatchObject({ code: "STORE_CONFLICT" });
});

it("a file of entries of a version without revisions is read, and changed", async () => {
  const path = file();
  mkdirSync(dirname(path));
  const before = new DatabaseSync(path);
  before.exec(`CREATE TABLE records (number INTEGER PRIMARY KEY, scope TEXT NOT NULL, user TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL,
    value TEXT NOT NULL, UNIQUE (scope, user, kind, id)) STRICT; INSERT INTO records VALUES (1, 'team', 'anne', 'plan', 'own', '{"plan":"pro"}')`);
  before.close();
  const records = sqliteRecords({ path });
  const [owner, held] = [
    { scope: "team", user: "anne" },
    { id: "own", value: { plan: "pro" }, revision: "first" },
  ];
  expect(await records.list(owner, "plan")).toEqual([held]);
  expect(await records.put(owner, "plan", { id: "own", value: {}, expected: held.revision })).toEqual(expect.any(String));
  records.close();
});

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
    breaks: ["put-get", "revisions"],
    make: spoiled((honest) => ({
      async put(owner, kind, record) {
        const held = await honest.get(owner, kind, record.id);
        const isAsked = record.expected === undefined || record.expected === (held?.revision ?? null);
        return honest.put(owner, kind, held && isAsked ? { ...record, value: held.value } : record);
      },
    })),
  },
  {
    defect: "moves a changed entry to the end of the list",
    breaks: ["order"],
    make: spoiled((honest) => ({
      async put(owner, kind, record) {
        const held = await honest.get(owner, kind, record.id);
        const isChange = held !== undefined && record.expected === undefined && JSON.stringify(record.value).length <= 1_000;
        if (isChange) await honest.remove(owner, kind, { id: record.id });
        return honest.put(owner, kind, record);
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
    make: spoiled((honest) => ({
      remove: async (owner, kind, entry) => (await honest.remove(owner, kind, entry)) || entry.expected === undefined,
    })),
  },
  {
    defect: "refuses changes where it is full",
    breaks: ["bounds"],
    make: spoiled((honest) => ({
      async put(owner, kind, record) {
        if ((await honest.list(owner, kind)).length >= 50) await honest.put(owner, kind, { id: "one more", value: {} });
        return honest.put(owner, kind, record);
      },
    })),
  },
  {
    defect: "overwrites what another writer has put",
    breaks: ["revisions"],
    make: spoiled((honest) => ({ put: (owner, kind, { id, value }) => honest.put(owner, kind, { id, value }) })),
  },
  {
    defect: "looks at the revision and then writes without it",
    breaks: ["revisions"],
    make: spoiled((honest) => ({
      async put(owner, kind, { id, value, expected }) {
        const held = await honest.get(owner, kind, id);
        if (expected !== undefined && (held?.revision ?? null) !== expected) return undefined;
        return honest.put(owner, kind, { id, value });
      },
    })),
  },
  {
    defect: "removes what another writer has changed",
    breaks: ["revisions"],
    make: spoiled((honest) => ({ remove: (owner, kind, { id }) => honest.remove(owner, kind, { id }) })),
  },
];

describe("the kit of entries", () => proveKit(it, userRecordsKit, saboteurs));
