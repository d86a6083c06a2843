import { isAgentError } from "@loopwright/core";
import { beforeAll, describe, expect, it } from "vitest";
import {
  createSecrets,
  type KeyRing,
  type MasterKey,
  masterKeyOf,
  masterKeys,
  memoryStorage,
  newMasterKey,
  type ScopeHead,
  type ScopeRead,
  type SecretStorage,
} from "../src/index.ts";

const unreadable = expect.toSatisfy((error: unknown) => isAgentError(error, "SECRET_UNREADABLE"));

let old: MasterKey;
let next: MasterKey;
beforeAll(async () => {
  [old, next] = await Promise.all([masterKeyOf(newMasterKey()), masterKeyOf(newMasterKey())]);
});

/** A storage whose reads another party changes. */
function tampered(
  storage: SecretStorage,
  change: (read: ScopeRead, scope: string, name?: string) => ScopeRead | Promise<ScopeRead>,
): SecretStorage {
  return { ...storage, read: async (scope, name) => change(await storage.read(scope, name), scope, name) };
}

const flipped = (bytes: Uint8Array, bit: number): Uint8Array => {
  const copy = new Uint8Array(bytes);
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return copy;
};

describe("an encrypted secret", () => {
  it("K01: does not decrypt after any bit of it, of its key or of the list of names was changed, or its tag was cut", async () => {
    const storage = memoryStorage();
    const keys = masterKeys(old);
    await createSecrets({ storage, keys }).set("team", "A", "sk-canary");
    const { head, record } = (await storage.read("team", "A")) as Required<ScopeRead>;
    const reading = (change: Partial<ScopeRead>) =>
      createSecrets({ storage: tampered(storage, (read) => ({ ...read, ...change })), keys }).get("team", "A");
    expect(await reading({})).toBe("sk-canary");
    const forged: Partial<ScopeRead>[] = [
      ...Array.from({ length: record.length * 8 }, (_, bit) => ({ record: flipped(record, bit) })),
      ...Array.from({ length: head.seal.length * 8 }, (_, bit) => ({ head: { ...head, seal: flipped(head.seal, bit) } })),
      ...Array.from({ length: head.key.bytes.length * 8 }, (_, bit) => ({
        head: { ...head, key: { ...head.key, bytes: flipped(head.key.bytes, bit) } },
      })),
      { record: record.subarray(0, record.length - 12) },
      { record: new Uint8Array() },
      { head: { ...head, revision: head.revision + 1 } },
      { head: { ...head, key: { ...head.key, masterId: next.id } } },
    ];
    for (const change of forged) await expect(reading(change)).rejects.toEqual(unreadable);
  });

  it("K01: does not decrypt under another name or scope, as an older value, or after its record was taken away", async () => {
    const storage = memoryStorage();
    const keys = masterKeys(old);
    const secrets = createSecrets({ storage, keys });
    for (const [scope, name] of [
      ["one", "A"],
      ["one", "B"],
      ["two", "A"],
    ] as const)
      await secrets.set(scope, name, `of ${scope} ${name}`);
    const before = await storage.read("one", "A");
    await secrets.set("one", "A", "newer");
    const reading = (change: (read: ScopeRead, scope: string, name?: string) => ScopeRead | Promise<ScopeRead>) =>
      createSecrets({ storage: tampered(storage, change), keys }).get("one", "A");
    const moves: Parameters<typeof reading>[0][] = [
      async (read) => ({ ...read, record: (await storage.read("one", "B")).record as Uint8Array }),
      async (read) => ({ ...read, record: (await storage.read("two", "A")).record as Uint8Array }),
      () => storage.read("two", "A"),
      async (read) => ({ ...read, head: (await storage.read("two", "A")).head as ScopeHead }),
      (read) => ({ ...read, record: before.record as Uint8Array }),
      ({ head }) => ({ head: head as ScopeHead }),
      ({ record }) => ({ record: record as Uint8Array }),
    ];
    for (const move of moves) await expect(reading(move)).rejects.toEqual(unreadable);
  });

  it("K02: has a nonce of its own at each write", async () => {
    const storage = memoryStorage();
    const secrets = createSecrets({ storage, keys: masterKeys(old) });
    const nonces = new Set<string>();
    for (let write = 0; write < 300; write++) {
      await secrets.set("one", "A", "the same value");
      const { head, record } = await storage.read("one", "A");
      for (const bytes of [record, head?.seal]) nonces.add(Buffer.from(bytes as Uint8Array).toString("hex", 1, 13));
    }
    expect(nonces.size).toBe(600);
  });

  it("is stored without its value, and no error has it or a key", async () => {
    const storage = memoryStorage();
    const text = newMasterKey();
    const key = await masterKeyOf(text);
    await createSecrets({ storage, keys: masterKeys(key) }).set("one", "A", "sk-canary-0123456789");
    const { head, record } = (await storage.read("one", "A")) as Required<ScopeRead>;
    const stored = [record, head.seal, head.key.bytes].map((bytes) => Buffer.from(bytes).toString("latin1")).join();
    expect(stored).not.toContain("sk-canary");
    const error: unknown = await createSecrets({ storage, keys: masterKeys(next) })
      .get("one", "A")
      .catch((thrown: unknown) => thrown);
    const shown = [error, key, masterKeys(key)].map((each) => JSON.stringify(each) + String(each)).join();
    for (const secret of ["sk-canary", text, text.slice(0, 12)]) expect(shown).not.toContain(secret);
    await expect(masterKeyOf(`${text}x`)).rejects.toSatisfy(
      (thrown) => isAgentError(thrown, "CONFIG_INVALID") && !JSON.stringify([thrown, String(thrown)]).includes(text),
    );
  });
});

describe("a rotation of the master key", () => {
  it("K03: reads with the old key and writes with the new one; after the re-wrap the old key opens nothing", async () => {
    const storage = memoryStorage();
    const before = createSecrets({ storage, keys: masterKeys(old) });
    for (const scope of ["one", "two"]) await before.set(scope, "A", `of ${scope}`);
    const rotating = createSecrets({ storage, keys: masterKeys(next, [old]) });
    expect(await rotating.get("one", "A")).toBe("of one");
    await rotating.set("three", "A", "of three");
    expect((await storage.read("three")).head?.key.masterId).toBe(next.id);
    expect([await rotating.rewrap(), await rotating.rewrap()]).toEqual([2, 0]);
    const after = createSecrets({ storage, keys: masterKeys(next) });
    expect(await Promise.all(["one", "two", "three"].map((scope) => after.get(scope, "A")))).toEqual(["of one", "of two", "of three"]);
    for (const scope of ["one", "two", "three"]) await expect(before.get(scope, "A")).rejects.toEqual(unreadable);
  });

  it("K03: loses no read and no write that comes meanwhile, over a hundred crashes of it, one at each place; then the old key opens nothing", async () => {
    const storage = memoryStorage();
    const names = Array.from({ length: 100 }, (_, at) => `s${at}`);
    const before = createSecrets({ storage, keys: masterKeys(old) });
    for (const scope of names) await before.set(scope, "A", "0");
    const both = masterKeys(next, [old]);
    const live = createSecrets({ storage, keys: both });
    let round = 0;
    const traffic = async (): Promise<void> => {
      const scope = names[++round % names.length] ?? "";
      await live.set(scope, "B", String(round));
      expect([await live.get(scope, "A"), await live.get(scope, "B")]).toEqual(["0", String(round)]);
      // Scopes of both master keys are readable at any time.
      expect(await live.get(names[(round * 37) % names.length] ?? "", "A")).toBe("0");
    };
    let crashes = 0;
    for (let isDone = false; !isDone; ) {
      // The process dies before or after its second write, so each time one scope further.
      let writes = 0;
      const dying: SecretStorage = {
        read: (...asked) => storage.read(...asked),
        scopes: () => storage.scopes(),
        async write(scope, change) {
          if (++writes === 2 && crashes % 2 === 0) throw new Error("killed");
          const isWritten = await storage.write(scope, change);
          if (writes === 2) throw new Error("killed");
          return isWritten;
        },
      };
      const rotation = createSecrets({ storage: dying, keys: both })
        .rewrap()
        .then(
          () => true,
          () => false,
        );
      await Promise.all([traffic(), rotation]);
      isDone = await rotation;
      if (!isDone) crashes++;
    }
    expect(crashes).toBeGreaterThan(50);
    const heads = await Promise.all(names.map((scope) => storage.read(scope)));
    expect(new Set(heads.map(({ head }) => head?.key.masterId))).toEqual(new Set([next.id]));
    const after = createSecrets({ storage, keys: masterKeys(next) });
    for (const scope of names) {
      expect(await after.get(scope, "A")).toBe("0");
      await expect(before.get(scope, "A")).rejects.toEqual(unreadable);
    }
  });

  it("takes any key ring, for example that of a key service", async () => {
    const inner = masterKeys(old);
    const asked: string[] = [];
    const service: KeyRing = {
      currentId: inner.currentId,
      wrap: (key, context) => inner.wrap(key, context),
      unwrap(key, context) {
        asked.push(context);
        return inner.unwrap(key, context);
      },
    };
    const secrets = createSecrets({ storage: memoryStorage(), keys: service });
    await secrets.set("one", "A", "x");
    expect([await secrets.get("one", "A"), asked]).toEqual(["x", ["one"]]);
  });
});
