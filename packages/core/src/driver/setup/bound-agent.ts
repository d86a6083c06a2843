/*
 * Owns: the agent that runs a session: the given one, with the client tools and the prompt that the session's log begins with.
 * Does not own: when the log is read (log-view), what a log begins with (session).
 */
import type { Agent } from "../../agent/agent.ts";
import { promptLayers } from "../../agent/prompt-layer.ts";
import type { DeclaredTool } from "../../loop/fact.ts";
import type { State } from "../../loop/state.ts";
import { canonicalJson } from "../../message/canonical-json.ts";
import { digestOf } from "../../message/digest.ts";
import type { Json } from "../../message/json.ts";
import { createToolRegistry, type ToolRegistry } from "../../tools/tool-registry.ts";
import { declaredTools, withDeclared } from "./declared-tools.ts";
import { otherAgent, otherOpening } from "./session-errors.ts";
import type { SessionOptions } from "./session-options.ts";

/** The client tools and the prompt that came with a session. */
type Declared = Pick<State, "tools" | "prompt">;

export interface BoundAgent {
  readonly agent: Agent;
  /** Digest of the agent's name, model, prompt and tools. */
  readonly digest: string;
  readonly registry: ToolRegistry;
  /** What a new log begins with. */
  readonly given: Declared;
  /**
   * Takes the client tools and the prompt from the log; while the log has no opening, the given ones are used.
   * @throws AgentError SESSION_AGENT_MISMATCH when the log began with another agent, or with other tools or another prompt than were given;
   * CONFIG_INVALID when a tool of the agent has the name of a tool in the log
   */
  bind(state: Pick<State, "status" | "agent" | "tools" | "prompt">): void;
}

type Given = Pick<SessionOptions, "agent" | "tools" | "prompt">;

/** @throws AgentError CONFIG_INVALID when a tool or the prompt cannot be used */
export function bindAgent({ agent: base, tools, prompt }: Given, sessionId: string): BoundAgent {
  const declared = declaredTools(tools);
  const given: Declared = { ...(declared.length > 0 ? { tools: declared } : {}), ...(prompt === undefined ? {} : { prompt }) };
  let held = given;
  const bound: BoundAgent = {
    given,
    ...boundTo(base, given),
    bind(state) {
      const wanted: Declared = state.status === "new" ? given : state;
      if (state.agent !== undefined && state.agent !== base.name) throw otherAgent(sessionId, { own: state.agent, given: base.name });
      if (wanted.tools === held.tools && wanted.prompt === held.prompt) return;
      if (tools !== undefined && !areSame(given.tools, wanted.tools)) throw otherOpening(sessionId, "tools");
      if (prompt !== undefined && prompt !== wanted.prompt) throw otherOpening(sessionId, "prompt");
      Object.assign(bound, boundTo(base, wanted));
      held = wanted;
    },
  };
  return bound;
}

type Bound = Pick<BoundAgent, "agent" | "digest" | "registry">;

/** Agents without declared tools or a declared prompt, for all their sessions. */
const alone = new WeakMap<Agent, Bound>();

function boundTo(base: Agent, { tools = [], prompt }: Declared): Bound {
  if (tools.length > 0 || prompt !== undefined) return boundOf(withDeclared(base, { tools, prompt }));
  const known = alone.get(base);
  if (known) return known;
  const bound = boundOf(base);
  alone.set(base, bound);
  return bound;
}

const boundOf = (agent: Agent): Bound => ({ agent, digest: digestOfAgent(agent), registry: createToolRegistry(agent.tools) });

/** True if the log would record both lists alike. */
function areSame(given: readonly DeclaredTool[] = [], kept: readonly DeclaredTool[] = []): boolean {
  const image = (tools: readonly DeclaredTool[]): string => canonicalJson(JSON.parse(JSON.stringify(tools)) as Json);
  return image(given) === image(kept);
}

function digestOfAgent(agent: Agent): string {
  const texts = promptLayers(agent.prompt).map(({ text }) => (typeof text === "string" ? text : ""));
  const prompt = texts.join("\n\n");
  return digestOf(
    [
      agent.name,
      agent.provider.name,
      agent.model,
      ...agent.chain.slice(1).map(({ provider, model }) => `${provider.name}/${model}`),
      prompt,
      ...agent.tools.map((tool) => `${tool.name}: ${tool.description}`),
    ].join("\n"),
  );
}
