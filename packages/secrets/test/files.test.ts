import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAgentError } from "@loopwright/core";
import { memorySecrets } from "@loopwright/core/memory";
import type { Logger } from "@loopwright/core/ports";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { chainSecrets, environmentSecrets, masterKeyOf, masterKeys, newMasterKey } from "../src/index.ts";
import { withFileLock } from "../src/node/file-lock.ts";
import { argon2Cost, fileSecrets, masterKeyFile, openSecretFiles, sqliteSecrets } from "../src/node/index.ts";
import { passphraseKey } from "../src/node/passphrase-key.ts";
import { SecretFile } from "../src/node/secret-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "loopwright-secrets-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const cost = { memoryKib: 64, passes: 1, lanes: 1 };
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
const isCode = (code: Parameters<typeof isAgentError>[1]) => expect.toSatisfy((error: unknown) => isAgentError(error, code));
const canary = "sk-CANARY-0123456789abcdef";

/** Everything in the folder, as text. */
const stored = (): string =>
  readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), "latin1"))
    .join("\n");

describe("files of secrets", () => {
  it("are for this user's eyes only, whatever mode they had, and hold no value", async () => {
    const path = join(folder, "secrets.db");
    writeFileSync(path, "");
    chmodSync(path, 0o666);
    const secrets = sqliteSecrets({ path, keys: masterKeys(await masterKeyOf(newMasterKey())) });
    await secrets.set("team", "A", canary);
    const file = await fileSecrets({ path: join(folder, "secrets.enc"), passphrase: "p", cost });
    await file.set("team", "A", canary);
    await masterKeyFile(join(folder, "master.key"));
    expect(readdirSync(folder).map((name) => [name, modeOf(join(folder, name))])).toEqual(readdirSync(folder).map((name) => [name, "600"]));
    secrets.close();
    for (const form of [canary, canary.slice(0, 12), Buffer.from(canary).toString("base64").slice(0, 20)])
      expect(stored()).not.toContain(form);
  });

  it("K04: of another passphrase or damaged are SECRET_UNREADABLE with their path, never empty", async () => {
    const path = join(folder, "secrets.enc");
    await (await fileSecrets({ path, passphrase: "right", cost })).set("team", "A", canary);
    for (const passphrase of ["wrong", "Right", "right "])
      await expect(fileSecrets({ path, passphrase })).rejects.toMatchObject({ code: "SECRET_UNREADABLE", details: { path } });
    expect(await (await fileSecrets({ path, passphrase: "right" })).get("team", "A")).toBe(canary);
    const whole = readFileSync(path, "utf8");
    for (const damaged of [
      "",
      "{}",
      whole.slice(0, -20),
      whole.replace('"kdf":', '"KDF":'),
      whole.replace('"memoryKib": 64', '"memoryKib": 1073741824'),
    ]) {
      expect(damaged).not.toBe(whole);
      writeFileSync(path, damaged);
      await expect(fileSecrets({ path, passphrase: "right" })).rejects.toEqual(isCode("SECRET_UNREADABLE"));
    }
    await expect(fileSecrets({ path: join(folder, "new"), passphrase: "" })).rejects.toEqual(isCode("CONFIG_INVALID"));
  });

  it("name their derivation and its costs in the header", async () => {
    const path = join(folder, "secrets.enc");
    await (await fileSecrets({ path, passphrase: "p", cost: { memoryKib: 128, passes: 2, lanes: 2 } })).set("team", "A", "x");
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ format: 1, kdf: "argon2id", memoryKib: 128, passes: 2, lanes: 2 });
  });

  it("derive their key by Argon2id as RFC 9106 has it", async () => {
    // The same as `argon2Sync` of Node.js 24 gives for it.
    const known = Buffer.from("a13046f56420eab82bd38a558e28ae61912ebc64e1a3c83f9bbb8a2432efe27a", "hex");
    const { id } = await passphraseKey("p", new Uint8Array(16).fill(1), { kdf: "argon2id", ...argon2Cost });
    expect(id).toBe((await masterKeyOf(known.toString("base64"))).id);
  });

  it("of the older derivation open, stay as they are while they are read, and are encrypted anew by the next change", async () => {
    const path = join(folder, "secrets.enc");
    const older = readFileSync(new URL("files/scrypt.enc", import.meta.url), "utf8");
    writeFileSync(path, older);
    const passphrase = "a passphrase of before";
    const [file, beside] = [await fileSecrets({ path, passphrase, cost }), await fileSecrets({ path, passphrase, cost })];
    expect([await file.get("_platform", "ACME_TOKEN"), await file.names("team")]).toEqual(["kept by scrypt", ["OTHER"]]);
    expect(readFileSync(path, "utf8")).toBe(older);
    await expect(file.set("team", "EMPTY", "")).rejects.toEqual(isCode("INPUT_INVALID"));
    expect(readFileSync(path, "utf8")).toBe(older);
    await file.set("team", "NEW", "x");
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ kdf: "argon2id", ...cost });
    expect([await beside.get("_platform", "ACME_TOKEN"), await beside.names("team")]).toEqual(["kept by scrypt", ["NEW", "OTHER"]]);
    await expect(fileSecrets({ path, passphrase: "wrong" })).rejects.toEqual(isCode("SECRET_UNREADABLE"));
  });

  it("whose passphrase was changed have other data keys: the older file and its passphrase open nothing of the newer", async () => {
    const path = join(folder, "secrets.enc");
    const file = await fileSecrets({ path, passphrase: "stolen", cost });
    await file.set("team", "A", canary);
    const stolen = JSON.parse(readFileSync(path, "utf8"));
    await file.changePassphrase("new");
    const now = JSON.parse(readFileSync(path, "utf8"));
    // The header and the wrapped key of the thief, with the records of today.
    writeFileSync(
      path,
      JSON.stringify({ ...stolen, scopes: [{ ...now.scopes[0], masterId: stolen.keyId, wrapped: stolen.scopes[0].wrapped }] }),
    );
    await expect((await fileSecrets({ path, passphrase: "stolen" })).get("team", "A")).rejects.toEqual(isCode("SECRET_UNREADABLE"));
  });

  it("change their passphrase whole: the old one opens nothing, and open stores continue", async () => {
    const path = join(folder, "secrets.enc");
    const file = await fileSecrets({ path, passphrase: "old", cost });
    await file.set("team", "A", canary);
    await file.set("other", "B", "b");
    await file.changePassphrase("new");
    expect([await file.get("team", "A"), await file.get("other", "B")]).toEqual([canary, "b"]);
    await file.set("team", "C", "c");
    expect(await (await fileSecrets({ path, passphrase: "new" })).names("team")).toEqual(["A", "C"]);
    await expect(fileSecrets({ path, passphrase: "old" })).rejects.toEqual(isCode("SECRET_UNREADABLE"));
  });

  it("are made once by two processes that begin at the same time", async () => {
    const path = join(folder, "secrets.enc");
    const [one, two] = await Promise.all([1, 2].map(() => fileSecrets({ path, passphrase: "p", cost })));
    await Promise.all([one?.set("team", "A", "a"), two?.set("team", "B", "b")]);
    expect([await one?.get("team", "B"), await two?.get("team", "A")]).toEqual(["b", "a"]);
    const keys = await Promise.all([1, 2, 3].map(() => masterKeyFile(join(folder, "master.key"))));
    expect(new Set(keys.map(({ id }) => id)).size).toBe(1);
    expect(readdirSync(folder).sort()).toEqual(["master.key", "secrets.enc", "secrets.enc.lock"]);
  });

  it("lose no secret to writers at once beside changes of the passphrase, and every read beside them succeeds", async () => {
    const path = join(folder, "secrets.enc");
    const file = await fileSecrets({ path, passphrase: "p0", cost });
    await file.set("team", "A", canary);
    const writers = Array.from({ length: 8 }, (_, n) => file.set(n % 2 ? "team" : `scope-${n}`, `K${n}`, `${n}`));
    const readers = Array.from({ length: 20 }, () => file.get("team", "A"));
    const changes = (async () => {
      for (const next of ["p1", "p2", "p3"]) await file.changePassphrase(next);
    })();
    expect(new Set(await Promise.all(readers))).toEqual(new Set([canary]));
    await Promise.all([...writers, changes]);
    const reopened = await fileSecrets({ path, passphrase: "p3" });
    expect(await reopened.names("team")).toEqual(["A", "K1", "K3", "K5", "K7"]);
    for (const n of [0, 2, 4, 6]) expect(await reopened.get(`scope-${n}`, `K${n}`)).toBe(`${n}`);
  });

  it("are read once for each secret that is asked for", async () => {
    const path = join(folder, "secrets.enc");
    const file = await fileSecrets({ path, passphrase: "p", cost });
    await file.set("team", "A", canary);
    const reads = vi.spyOn(SecretFile.prototype, "content");
    onTestFinished(() => reads.mockRestore());
    expect(await file.get("team", "A")).toBe(canary);
    expect(reads).toHaveBeenCalledTimes(1);
  });

  it("are not written by another process while one of them is at it, however long it was paused", async () => {
    const path = join(folder, "secrets.enc");
    const file = await fileSecrets({ path, passphrase: "p", cost });
    await file.set("team", "A", "a");
    const order: string[] = [];
    let release = (): void => {};
    const held = withFileLock(`${path}.lock`, async () => {
      order.push("held");
      // A lock whose holder looks as if it had died: an old file changes nothing.
      utimesSync(`${path}.lock`, 0, 0);
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      order.push("given back");
    });
    const write = file.set("team", "B", "b").then(() => order.push("written"));
    await new Promise((resolve) => setImmediate(resolve));
    expect(order).toEqual(["held"]);
    release();
    await Promise.all([held, write]);
    expect(order).toEqual(["held", "given back", "written"]);
  });

  it("that cannot be written are STORE_UNAVAILABLE, and a file of a master key without one is CONFIG_INVALID", async () => {
    writeFileSync(join(folder, "plain"), "not a key");
    const inside = join(folder, "plain", "secrets.enc");
    await expect(fileSecrets({ path: inside, passphrase: "p", cost })).rejects.toEqual(isCode("STORE_UNAVAILABLE"));
    await expect(masterKeyFile(join(folder, "plain"))).rejects.toEqual(isCode("CONFIG_INVALID"));
    const keys = masterKeys(await masterKeyOf(newMasterKey()));
    expect(() => sqliteSecrets({ path: join(folder, "plain", "x.db"), keys })).toThrow(isCode("STORE_UNAVAILABLE"));
  });
});

describe("several candidates for files of secrets", () => {
  it("C16: one that is missing is left out silently, one that does not open is left out with a warning that has its path", async () => {
    const [local, global, missing] = ["local.enc", "global.enc", "missing.enc"].map((name) => join(folder, name));
    await (await fileSecrets({ path: local as string, passphrase: "p", cost })).set("_platform", "ACME_TOKEN", "local value");
    await (await fileSecrets({ path: global as string, passphrase: "another", cost })).set("_platform", "OPENAI_API_KEY", "global value");
    const lines: { readonly level: string; readonly fields: unknown }[] = [];
    const logger: Logger = { log: (level, _, fields) => void lines.push({ level, fields }) };
    const stores = await openSecretFiles({ paths: [missing, local, global] as string[], passphrase: "p", logger });
    expect(lines).toEqual([{ level: "warn", fields: expect.objectContaining({ path: global }) }]);
    const chain = chainSecrets([
      ...stores,
      environmentSecrets({ variables: { TAVILY_API_KEY: "t", HOME: "/" }, names: ["TAVILY_API_KEY"] }),
    ]);
    expect(await chain.get("_platform", "ACME_TOKEN")).toBe("local value");
    expect(await chain.names("_platform")).toEqual(["ACME_TOKEN", "TAVILY_API_KEY"]);
  });

  it("C17: a stale global file hides no key of the local one, neither when it is read nor in the list", async () => {
    const [local, global] = ["local.enc", "global.enc"].map((name) => join(folder, name)) as [string, string];
    await (await fileSecrets({ path: global, passphrase: "old", cost })).set("_platform", "OPENAI_API_KEY", "stale");
    await (await fileSecrets({ path: local, passphrase: "p", cost })).set("_platform", "OPENAI_API_KEY", "fresh");
    const quiet: Logger = { log: () => {} };
    for (const paths of [
      [global, local],
      [local, global],
    ]) {
      const chain = chainSecrets(await openSecretFiles({ paths, passphrase: "p", logger: quiet }));
      expect([await chain.get("_platform", "OPENAI_API_KEY"), await chain.names("_platform")]).toEqual(["fresh", ["OPENAI_API_KEY"]]);
    }
  });
});

describe("a chain of stores", () => {
  it("moves on only for what is absent: a secret that cannot be read is an error", async () => {
    const path = join(folder, "secrets.enc");
    const file = await fileSecrets({ path, passphrase: "p", cost });
    await file.set("_platform", "A", "x");
    const content = JSON.parse(readFileSync(path, "utf8"));
    content.scopes[0].records.A = Buffer.alloc(40, 1).toString("base64");
    writeFileSync(path, JSON.stringify(content));
    const behind = environmentSecrets({ variables: { A: "of the environment" }, names: ["A"] });
    await expect(chainSecrets([file, behind]).get("_platform", "A")).rejects.toEqual(isCode("SECRET_UNREADABLE"));
  });

  it("refuses to be empty, and to set where every store is read only", async () => {
    expect(() => chainSecrets([])).toThrow(isCode("CONFIG_INVALID"));
    const only = chainSecrets([environmentSecrets({ variables: { A: "x" }, names: ["A", "B"] })]);
    expect([await only.get("_platform", "A"), await only.get("team", "A"), await only.get("_platform", "B")]).toEqual([
      "x",
      undefined,
      undefined,
    ]);
    const writable = memorySecrets();
    const chain = chainSecrets([environmentSecrets({ variables: { A: "x" }, names: ["A", "B"] }), writable]);
    await expect(chain.set("_platform", "A", "hidden")).rejects.toEqual(isCode("STORE_READ_ONLY"));
    expect(await writable.names("_platform")).toEqual([]);
    await chain.set("_platform", "B", "shown");
    expect(await chain.get("_platform", "B")).toBe("shown");
    await writable.set("_platform", "A", "of before");
    await expect(chain.remove("_platform", "A")).rejects.toEqual(isCode("STORE_READ_ONLY"));
    expect(await writable.names("_platform")).toEqual(["B"]);
    await expect(only.set("_platform", "A", "y")).rejects.toEqual(isCode("STORE_READ_ONLY"));
    await expect(only.remove("_platform", "A")).rejects.toEqual(isCode("STORE_READ_ONLY"));
    expect(await only.remove("_platform", "B")).toBe(false);
  });
});
