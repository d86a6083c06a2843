import { createRuntime, createWorker, type RuntimeOptions, type Worker, type WorkerOptions } from "@loopwright/host";
import { type AgentServer, createServer, type ServerOptions } from "@loopwright/server";

/** Options of a server and of its runtime, in one object. */
export type ServeOptions = RuntimeOptions & Omit<ServerOptions, "runtime">;

/** Options of a worker and of its runtime, in one object. */
export type WorkOptions = RuntimeOptions & Omit<WorkerOptions, "runtime">;

/** A server with a runtime of its own. */
export const serve = (options: ServeOptions): AgentServer => createServer(withRuntime(options));

/** A worker with a runtime of its own. */
export const work = (options: WorkOptions): Worker => createWorker(withRuntime(options));

/** The options with those of the runtime made into one. */
export function withRuntime<const Options extends RuntimeOptions>(
  options: Options,
): Omit<Options, keyof RuntimeOptions> & Pick<ServerOptions, "runtime"> {
  const { agents, store, channel, queue, prices, context, leaseMs, logger, clock, ids, close, observers, ledger, ...more } = options;
  const { tokenCounter, resolveModel, ...others } = more;
  const rest = others as Omit<Options, keyof RuntimeOptions>;
  const stored = { store, channel, queue, leaseMs, close };
  const shared = { ...stored, agents, prices, context, logger, clock, ids, observers, ledger, tokenCounter, resolveModel };
  const given = Object.fromEntries(Object.entries(shared).filter(([, value]) => value !== undefined));
  return { ...rest, runtime: createRuntime({ agents, ...given }) };
}
