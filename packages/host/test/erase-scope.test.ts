import { createAgent } from "@loopwright/core";
import { memoryStore, scripted, silentLogger } from "@loopwright/core/memory";
import { createHost, createRuntime, eraseScope } from "@loopwright/host";
import { expect, it, onTestFinished } from "vitest";

/** A host with three answered sessions in the scope `garden`, one in `kitchen`, and a file of the scope each. */
async function scopes() {
  const agent = createAgent({ name: "helper", provider: scripted(Array.from({ length: 9 }, () => ({ text: "Yes." }))) });
  const host = createHost({ runtime: createRuntime({ agents: [agent], store: memoryStore(), logger: silentLogger }), isOneOfMany: false });
  onTestFinished(() => host.close());
  for (const [scope, id] of [
    ["garden", "a"],
    ["garden", "b"],
    ["garden", "c"],
    ["kitchen", "d"],
  ] as const) {
    const { session, release } = await host.sessions.create({ user: "anne", scope }, { id });
    await session.submit("Question");
    release();
    await host.store.blobs.put(scope, `upload-${scope}`, { bytes: new Uint8Array([1]) });
  }
  const idsOf = async (scope: string) => (await host.store.index.list(scope)).map(({ id }) => id).sort();
  return { host, idsOf, blobsOf: (scope: string) => host.store.blobs.list(scope) };
}

it("a scope is erased with its sessions and files, and the others stay as they were", async () => {
  const { host, idsOf, blobsOf } = await scopes();
  expect(await eraseScope(host, "garden")).toEqual({ removed: 3, held: [] });
  expect([await idsOf("garden"), await blobsOf("garden")]).toEqual([[], []]);
  expect([await idsOf("kitchen"), await blobsOf("kitchen")]).toEqual([["d"], ["upload-kitchen"]]);
  expect(await eraseScope(host, "garden")).toEqual({ removed: 0, held: [] });
});

it("a session under a legal hold stays, is named, and goes once the hold is lifted", async () => {
  const { host, idsOf, blobsOf } = await scopes();
  const { session, release } = await host.sessions.open({ scope: "garden", session: "b" });
  await session.hold({ reason: "case 7" });
  expect(await eraseScope(host, "garden")).toEqual({ removed: 2, held: ["b"] });
  expect([await idsOf("garden"), await blobsOf("garden")]).toEqual([["b"], ["upload-garden"]]);
  await session.releaseHold();
  release();
  expect(await eraseScope(host, "garden")).toEqual({ removed: 1, held: [] });
  expect(await blobsOf("garden")).toEqual([]);
});
