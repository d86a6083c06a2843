import { isAgent } from "../../agent/agent.ts";
import { agentBelow } from "../../agent/child-agents.ts";
import { AgentError } from "../../errors.ts";
import type { FactBody } from "../../loop/fact.ts";
import { present } from "../../message/drop-undefined.ts";
import { checkContext } from "../../protocol/checked-input.ts";
import type { AgentSession } from "../../protocol/execute.ts";
import { checkPayload } from "../log/spill-large-values.ts";
import type { ChildOptions, Deps } from "../setup/session-deps.ts";
import type { SessionOptions } from "../setup/session-options.ts";
import { childSession } from "./commands/child-session.ts";
import { keepContext } from "./commands/command-context-of-session.ts";
import type { CommandContext } from "./commands/submit-input.ts";
import { depsOf } from "./resolve-session-options.ts";
import { watchRun } from "./run-stream.ts";
import { SessionDriver } from "./session-driver.ts";
import { SessionHandle } from "./session-handle.ts";

type Shared = Omit<SessionOptions, "agent" | "id" | "access" | "context" | "tools" | "prompt" | "title" | "metadata" | "drives" | "node">;

/**
 * A handle on a session, new or restored. Nothing is read or written before its first use.
 * @throws AgentError CONFIG_INVALID when an option is wrong.
 */
export function createSession<Output>(options: SessionOptions<Output>): AgentSession<Output> {
  if (!isAgent(options?.agent))
    throw new AgentError("CONFIG_INVALID", { message: "`agent` is not an agent.", fix: "Pass what `createAgent` returned." });
  const context = openContext(options);
  const session = new SessionHandle<Output>(context);
  keepContext(session, context);
  return session;
}

/** @throws AgentError CONFIG_INVALID */
function openContext(options: SessionOptions, child: Partial<Pick<ChildOptions, "parent" | "remembered">> = {}): CommandContext {
  const { agent, context, title, metadata } = options;
  const own = depsOf(options);
  const { parent, remembered: above } = child;
  const deps: Deps = {
    ...own,
    ...(parent ? { parent } : {}),
    ...(above ? { rememberedAbove: above } : {}),
    openChild({ parent: link, remembered, agent: given, ...begun }) {
      const inherited = { parent: link, ...(remembered ? { remembered } : {}) };
      const below = { ...begun, agent: agentBelow(agent, given) };
      const opened = openContext({ ...sharedOf(options), node: `${own.node}.child`, ...below }, inherited);
      return childSession(opened, (runId) => watchRun(opened, () => ({ bodies: [], runId }), {}).result());
    },
  };
  if (context !== undefined) checkContext(context);
  if (metadata) checkPayload(metadata, "The metadata");
  const opening: FactBody = {
    type: "session.opened",
    agent: agent.name,
    participants: [deps.access.user, agent.name],
    ...present({ title, metadata, parent }),
    ...(context && context.length > 0 ? { context } : {}),
    ...deps.bound.given,
  };
  const driver = new SessionDriver(deps);
  return { deps, driver, driveUntilIdle: () => driver.driveUntilIdle(), opening };
}

/** The dependencies that a child shares with its parent. */
function sharedOf({ agent, id, access, context, tools, prompt, title, metadata, drives, node, ...shared }: SessionOptions): Shared {
  return shared;
}
