import { createAgent } from "@loopwright/core";
import { memoryStore, scripted, silentLogger } from "@loopwright/core/memory";
import { createRuntime } from "@loopwright/host";
import { masterKeyOf, masterKeys, newMasterKey } from "@loopwright/secrets";
import { createServer } from "@loopwright/server";
import { sealedStore, wrappedKeys } from "@loopwright/store-sealed";
import { expect, it } from "vitest";

const provider = scripted(() => ({ text: "The roses are SECRET-ANSWER." }));

it("the log of a session over HTTP is readable while its key is there, and has no word of it when the key was erased", async () => {
  const keys = wrappedKeys({ blobs: memoryStore().blobs, master: masterKeys(await masterKeyOf(newMasterKey())) });
  const inner = memoryStore();
  const serve = () =>
    createServer({
      runtime: createRuntime({
        agents: [createAgent({ name: "helper", provider })],
        store: sealedStore(inner, { keys }),
        logger: silentLogger,
      }),
    });
  const here = { remoteAddress: "127.0.0.1" };
  const first = serve();
  const json = { "Content-Type": "application/json" };
  const body = JSON.stringify({ sessionId: "s1", context: {}, input: "SECRET-QUESTION" });
  await (await first.fetch(new Request("http://localhost/api/agent/execute", { method: "POST", headers: json, body }), here)).text();
  const read = async (server: typeof first) => {
    const response = await server.fetch(new Request("http://localhost/api/sessions/s1/log"), here);
    return { status: response.status, text: await response.text() };
  };
  const open = await read(first);
  expect([open.status, open.text]).toEqual([200, expect.stringMatching(/SECRET-QUESTION.*SECRET-ANSWER/)]);
  await first.close();
  expect(JSON.stringify(await inner.log.read({ scope: "local", session: "s1" }))).not.toContain("SECRET");

  await keys.eraseSession({ scope: "local", session: "s1" });
  const second = serve();
  const erased = await read(second);
  expect(erased.status).toBeGreaterThanOrEqual(400);
  expect(JSON.parse(erased.text)).toMatchObject({ code: "SESSION_CORRUPT" });
  expect(erased.text).not.toContain("SECRET");
  await second.close();
});
