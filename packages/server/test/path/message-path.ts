/* The functions that `POST /api/sessions/:id/messages` enters, up to its response, as JSON. */
import { type Entered, traceModules, traceOf } from "./trace-functions.ts";

traceModules();

const { createAgent } = await import("@loopwright/core");
const { memoryStore, scripted, silentLogger } = await import("@loopwright/core/memory");
const { createRuntime } = await import("@loopwright/host");
const { createServer } = await import("@loopwright/server");

const store = memoryStore();
const { append } = store.log;
store.log.append = (ref, batch) => globalThis.enterFunction("the store append", () => append.call(store.log, ref, batch));
const server = createServer({
  runtime: createRuntime({
    agents: [createAgent({ name: "helper", provider: scripted([{ text: "Hello." }]) })],
    store,
    logger: silentLogger,
  }),
  authenticate: () => ({ user: "anne", scope: "garden" }),
  authorize: () => true,
});
const post = (path: string, body: object): Promise<Response> =>
  server.fetch(
    new Request(`http://localhost${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID() },
      body: JSON.stringify(body),
    }),
  );
await post("/api/sessions", { id: "a" });
const { entered, value } = await traceOf(() => post("/api/sessions/a/messages", { message: "Good morning." }));
const places = new Map<Entered, number>(entered.map((one, at) => [one, at]));
const calls = entered.map(({ id, by }) => ({ id, by: by === undefined ? -1 : (places.get(by) ?? -1) }));
console.log(JSON.stringify({ status: value.status, calls }));
await server.close();
