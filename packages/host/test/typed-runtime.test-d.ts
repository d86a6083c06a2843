// What the type checker refuses and infers of runtimes and hosts. `tsc` reads this file with the tests; nothing here runs.
import { type AgentSession, createAgent, type ExecuteResult, type StandardSchema } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import {
  type Backend,
  createHost,
  createRuntime,
  createWorker,
  type Host,
  type HostOptions,
  type LoadedSession,
  type RetentionRules,
  type Runtime,
  type RuntimeOptions,
  type RuntimeSessionOptions,
  type Worker,
  type WorkerOptions,
} from "../src/index.ts";

type Same<One, Other> = (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false;
const same = <One, Other>(_: Same<One, Other>): void => {};

const provider = scripted([]);
declare const output: StandardSchema<{ name: string }>;
const city = createAgent({ name: "atlas", provider, output });
const runtime = createRuntime({ agents: [city], store: memoryStore() });
same<typeof runtime, Runtime>(true);
createRuntime({ agents: async (name, { scope }) => (name === "atlas" && scope === "garden" ? city : undefined) });
// @ts-expect-error: a runtime has agents
createRuntime({ store: memoryStore() });
// @ts-expect-error: an agent is what `createAgent` gives
createRuntime({ agents: [{ name: "atlas" }] });
// @ts-expect-error: the function gives one agent or none
createRuntime({ agents: () => [city] });

// The output of an agent is the type of its results, through every door of the runtime.
const session = runtime.session({ agent: city });
same<typeof session, AgentSession<{ name: string }>>(true);
const asked: ExecuteResult<{ name: string }> = await runtime.ask(city, "Where?").result();
if (asked.status === "completed") same<typeof asked.output, { name: string }>(true);
// An agent that is named by a text may have any output.
const named = await runtime.ask("atlas", "Where?").result();
if (named.status === "completed") same<typeof named.output, unknown>(true);
// @ts-expect-error: the store is the runtime's
runtime.session({ agent: city, store: memoryStore() });

createWorker({ runtime });
// @ts-expect-error: agents stand in the runtime
createWorker({ runtime, agents: [city] });
// @ts-expect-error: a worker is no server
createWorker({ runtime, role: "server" });

// A program that builds its runtime and its worker in functions of its own names their types with one import.
function built(backend: Backend, more: Partial<RuntimeOptions> = {}): Runtime {
  return createRuntime({ agents: [city], ...backend, ...more });
}
const opened = (of: Runtime, options: RuntimeSessionOptions): AgentSession => of.session(options);
const rules: RetentionRules = () => [{ scope: "garden", keepMs: 1_000 }];
const work = (options: WorkerOptions): Worker => createWorker({ ...options, retention: rules });
const host = (options: HostOptions): Host => createHost(options);
const titleOf = ({ session: loaded }: LoadedSession): string => loaded.id;
export const all: readonly unknown[] = [built, opened, work, host, titleOf];
