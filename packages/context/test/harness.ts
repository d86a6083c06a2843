import { type Agent, type AgentSession, type AgentSettings, createAgent, createSession, type SessionOptions } from "@loopwright/core";
import {
  type ManualClock,
  manualClock,
  memoryStore,
  type ScriptedProvider,
  type ScriptedTurn,
  scripted,
  seededIds,
} from "@loopwright/core/memory";
import type { ModelRequest, SessionStore } from "@loopwright/core/ports";
import { contextEngine } from "../src/index.ts";

export type Script = readonly ScriptedTurn[] | ((request: ModelRequest, call: number) => ScriptedTurn);

export interface World {
  readonly provider: ScriptedProvider;
  readonly agent: Agent;
  readonly store: SessionStore;
  readonly clock: ManualClock;
  readonly session: AgentSession;
  /** Another handle on the same session, as another process has it. */
  again(options?: Partial<SessionOptions>): AgentSession;
}

export interface WorldOptions extends Partial<AgentSettings> {
  /** The window of the model. Default: unknown. */
  readonly contextTokens?: number;
  readonly session?: Partial<SessionOptions>;
}

/** One session over a scripted model with a window, with the engine as it is by default. */
export function world(script: Script, { contextTokens, session: own, ...settings }: WorldOptions = {}): World {
  const provider = scripted(script as readonly ScriptedTurn[], contextTokens === undefined ? {} : { capabilities: { contextTokens } });
  const agent = createAgent({ name: "tester", provider, context: contextEngine(), ...settings });
  const clock = manualClock();
  const store = memoryStore({ clock });
  let seed = 0;
  const again = (more: Partial<SessionOptions> = {}): AgentSession =>
    createSession({ agent, id: "s1", store, clock, ids: seededIds(++seed), node: `node${seed}`, ...own, ...more });
  return { provider, agent, store, clock, session: again(), again };
}
