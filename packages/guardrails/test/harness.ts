import {
  type AgentEvent,
  type AgentSession,
  createAgent,
  createSession,
  type ExecuteResult,
  execute,
  type Fact,
  type Hooks,
  type SessionStore,
  type Tool,
} from "@loopwright/core";
import { memoryStore, type ScriptedProvider, type ScriptedStep, scripted } from "@loopwright/core/memory";

export const scope = "team";

/** A guarded session, and everything that can be read of it. */
export interface GuardedSession {
  readonly store: SessionStore;
  readonly provider: ScriptedProvider;
  readonly session: AgentSession;
  readonly events: readonly AgentEvent[];
  readonly logged: readonly string[];
  /** Sends a message, and gives the result; all that is streamed joins `events`. */
  say(text: string): Promise<ExecuteResult>;
  facts(): Promise<readonly Fact[]>;
  /** Everything that anyone could read of it. */
  everything(): Promise<string>;
  /** `<point> <action> <reason>` of each verdict in the log. */
  verdicts(): Promise<readonly string[]>;
}

/** A session whose model plays a script in deltas of `chunkSize` characters, with these hooks. */
export function sessionWith(
  steps: readonly ScriptedStep[],
  { hooks, tools = [], chunkSize = 3 }: { readonly hooks: readonly Hooks[]; readonly tools?: readonly Tool[]; readonly chunkSize?: number },
): GuardedSession {
  const store = memoryStore();
  const provider = scripted(steps, { chunkSize });
  const logged: string[] = [];
  const logger = { log: (...line: readonly unknown[]): void => void logged.push(JSON.stringify(line)) };
  const agent = createAgent({ name: "desk", provider, tools, hooks });
  const session = createSession({ agent, store, logger, access: { scope, user: "anne" } });
  const events: AgentEvent[] = [];
  const facts = (): Promise<readonly Fact[]> => store.log.read({ scope, session: session.id }, { from: 1, limit: 1_000 });
  return {
    ...{ store, provider, session, events, logged, facts },
    async say(text) {
      const stream = execute(session, text);
      for await (const event of stream) events.push(event);
      return stream.result();
    },
    everything: async () => JSON.stringify([events, await facts(), provider.requests, logged]),
    verdicts: async () =>
      (await facts()).flatMap((fact) =>
        "verdicts" in fact && fact.verdicts ? fact.verdicts.map(({ point, action, reason }) => `${point} ${action} ${reason}`) : [],
      ),
  };
}
