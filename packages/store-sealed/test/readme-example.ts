import { createAgent } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { createHost, createRuntime, eraseScope } from "@loopwright/host";
import { masterKeyOf, masterKeys } from "@loopwright/secrets";
import { sealedStore, wrappedKeys } from "@loopwright/store-sealed";
import { sqliteStore } from "@loopwright/store-sqlite";

const master = masterKeys(await masterKeyOf(process.env["MASTER_KEY"] ?? ""));
const keyStore = sqliteStore({ path: "keys.db" }); // with backups of its own
const keys = wrappedKeys({ blobs: keyStore.blobs, master });
const store = sealedStore(sqliteStore({ path: "sessions.db" }), { keys });

const agent = createAgent({ name: "helper", provider: scripted([{ text: "Roses need sun." }]) });
const host = createHost({ runtime: createRuntime({ agents: [agent], store }), isOneOfMany: false });
await host.runtime.ask("helper", "What do roses need?", { access: { user: "anne", scope: "garden" } }).result();
console.log((await store.index.search("garden", "roses")).length); // 1

console.log(await eraseScope(host, "garden")); // { removed: 1, held: [] }
await keys.eraseScope("garden"); // from now on no backup of sessions.db can be read
await host.close();
await Promise.all([store.close(), keyStore.close()]);
