// What the type checker refuses of the options of a server. `tsc` reads this file with the tests; nothing here runs.
import { createAgent } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import { createRuntime } from "@loopwright/host";
import { createServer, type ExtensionRoute } from "../src/index.ts";

const agents = [createAgent({ name: "helper", provider: scripted([]) })];
const runtime = createRuntime({ agents });

createServer({ runtime, authorize: (_, action, session) => action === "session.read" && session !== undefined });
// @ts-expect-error: a server has a runtime
createServer({ authenticate: () => undefined });
// @ts-expect-error: agents and stores stand in the runtime
createServer({ runtime, agents, store: memoryStore() });
// @ts-expect-error: a principal has a scope
createServer({ runtime, authenticate: () => ({ user: "anne" }) });
// @ts-expect-error: there is no such action
createServer({ runtime, authorize: (_, action) => action === "session.peek" });
// @ts-expect-error: no such limit
createServer({ runtime, limits: { bodyBites: 1 } });

const greet: ExtensionRoute = {
  method: "GET",
  path: "/greeting/:name",
  id: "greeting",
  handle: ({ params, principal }) => Response.json({ text: `${principal.user} greets ${params["name"]}` }),
};
createServer({ runtime, routes: [greet] });
// @ts-expect-error: a route answers
createServer({ runtime, routes: [{ ...greet, handle: () => "Hello" }] });
// @ts-expect-error: no such method
createServer({ runtime, routes: [{ ...greet, method: "GREET" }] });
