import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import { createHost, createRuntime, eraseScope } from "@loopwright/host";
import { masterKeyOf, masterKeys, newMasterKey } from "@loopwright/secrets";
import { sealedStore, wrappedKeys } from "@loopwright/store-sealed";
import { sqliteStore } from "@loopwright/store-sqlite";
import { expect, it } from "vitest";
import { auditLog, auditObserver } from "../src/audit/index.ts";

it("a scope whose keys were erased is unreadable, also in a copy made before; its audit chain verifies, over segments, with entries of before and after", async () => {
  const folder = await mkdtemp(join(tmpdir(), "loopwright-erased-"));
  const master = masterKeys(await masterKeyOf(newMasterKey()));
  const keys = wrappedKeys({ blobs: memoryStore().blobs, master });
  const inner = sqliteStore({ path: join(folder, "sessions.db") });
  const store = sealedStore(inner, { keys });
  const bounds = { segmentEntries: 4 };
  const audit = auditLog({ log: store.log, ...bounds });
  const provider = scripted(() => ({ text: "The roses are SECRET-ANSWER." }));
  const agent = createAgent({ name: "helper", provider });
  const host = createHost({ runtime: createRuntime({ agents: [agent], store, observers: [auditObserver(audit)] }), isOneOfMany: false });
  const ask = (id: string): Promise<unknown> =>
    host.runtime.ask("helper", "SECRET-QUESTION", { id, access: { user: "anne", scope: "garden" } }).result();
  for (const id of ["s1", "s2", "s3", "s4", "s5", "s6"]) await ask(id);
  await audit.settled();
  const before = await audit.verify("garden");
  // A backup: the store below as it is, with all its bytes.
  const facts = await inner.log.read({ scope: "garden", session: "s1" });
  expect(JSON.stringify(facts)).not.toContain("SECRET");
  await eraseScope(host, "garden");
  await keys.eraseScope("garden");
  await audit.record("garden", { user: "olga", action: "scope.erased" });
  await audit.settled();
  expect(await store.log.read({ scope: "garden", session: "s1" })).toEqual([]);
  const verdict = await auditLog({ log: store.log, ...bounds }).verify("garden", before.intact ? { head: before.head } : {});
  const entries = await audit.list("garden");
  expect(verdict).toMatchObject({ intact: true, entries: entries.length });
  expect(entries.filter(({ action }) => action === "session.opened")).toHaveLength(6);
  expect(entries.map(({ action }) => action)).toEqual(expect.arrayContaining(["audit.segment-closed", "session.removed", "scope.erased"]));
  await host.close();
  await store.close();
  expect(await readFile(join(folder, "sessions.db"), "latin1")).not.toContain("SECRET");
  await rm(folder, { recursive: true });
});
