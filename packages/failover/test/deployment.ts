import {
  type Agent,
  type AgentSettings,
  createAgent,
  createSession,
  type ExecuteResult,
  execute,
  type Fact,
  type ModelRef,
} from "@loopwright/core";
import {
  type ManualClock,
  manualClock,
  memoryStore,
  type ScriptedProvider,
  type ScriptedTurn,
  scripted,
  seededIds,
} from "@loopwright/core/memory";
import { type CircuitRecords, createFailover, type FailoverOptions, memoryCircuits } from "../src/index.ts";

/** What a vendor does with a call; it may change while the test runs. */
export type Behaviour = () => ScriptedTurn;

/** Processes that share records and vendors, under a clock that only the test moves. */
export interface Deployment {
  readonly clock: ManualClock;
  readonly vendors: { readonly [name: string]: ScriptedProvider };
  /** A question to a new session of one of the processes, and what its log holds at the end. */
  ask(process?: number): Promise<{ readonly result: ExecuteResult; readonly facts: readonly Fact[] }>;
  /** The same without waiting for its end. */
  begin(process?: number): { readonly result: Promise<ExecuteResult>; abort(): Promise<void>; facts(): Promise<readonly Fact[]> };
  /** Lets what is ready happen. */
  calm(): Promise<void>;
}

export interface DeploymentOptions extends Pick<AgentSettings, "hooks" | "limits"> {
  readonly behaviours: { readonly [name: string]: Behaviour };
  readonly processes?: number;
  readonly records?: CircuitRecords;
  readonly failover?: FailoverOptions;
}

/** Turns of the event loop that a call needs at most. */
const turnsMax = 60;

export function deployed({
  behaviours,
  processes = 1,
  records = memoryCircuits(),
  failover,
  hooks,
  limits,
}: DeploymentOptions): Deployment {
  const clock = manualClock();
  const vendors = Object.fromEntries(
    Object.entries(behaviours).map(([name, behave]) => [name, scripted(behave, { name, model: `${name}-1` })]),
  );
  const model = Object.values(vendors).map((provider): ModelRef => ({ provider, model: provider.defaultModel, keyOwner: "platform" }));
  const agent: Agent = createAgent({ name: "tester", model, limits: { attemptsMax: 1, ...limits }, ...(hooks ? { hooks } : {}) });
  const nodes = Array.from({ length: processes }, (_, at) => ({
    store: memoryStore({ clock }),
    ids: seededIds(at + 1),
    callGuard: createFailover({ clock, records, ids: seededIds(100 + at), jitterShare: 0, ...failover }),
  }));
  const calm = async (): Promise<void> => {
    for (let turn = 0; turn < turnsMax; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
  };
  const begin: Deployment["begin"] = (process = 0) => {
    const node = nodes[process];
    if (!node) throw new Error(`There is no process ${process}.`);
    const session = createSession({ agent, clock, ...node });
    const stream = execute(session, "x");
    return {
      result: stream.result(),
      abort: async () => void (await session.abort("enough")),
      facts: () => node.store.log.read({ scope: "local", session: session.id }),
    };
  };
  return {
    clock,
    vendors,
    calm,
    begin,
    async ask(process) {
      const begun = begin(process);
      const result = await begun.result;
      return { result, facts: await begun.facts() };
    },
  };
}

/** How often each vendor was asked. */
export const asked = ({ vendors }: Deployment): { readonly [name: string]: number } =>
  Object.fromEntries(Object.entries(vendors).map(([name, { requests }]) => [name, requests.length]));

export const down: Behaviour = () => ({ error: "MODEL_OVERLOADED" });
export const answering =
  (name: string): Behaviour =>
  () => ({ text: `From ${name}.` });
