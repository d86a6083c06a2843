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
  const { agents, store, channel, queue, prices, context, leaseMs, logger, clock, ids, close, observers, ledger, tokenCounter, ...rest } =
    options;
  const shared = { agents, store, channel, queue, prices, context, leaseMs, logger, clock, ids, close, observers, ledger, tokenCounter };
  const given = Object.fromEntries(Object.entries(shared).filter(([, value]) => value !== undefined));
  return { ...rest, runtime: createRuntime({ agents, ...given }) };
}
