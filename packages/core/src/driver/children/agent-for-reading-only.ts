import { type Agent, createAgent } from "../../agent/agent.ts";
import { AgentError } from "../../errors.ts";

/** An agent with this name for a session that is only read or stopped, which needs neither a model nor tools. */
export const standInAgent = (name: string): Agent =>
  createAgent({
    name,
    provider: {
      name: "none",
      defaultModel: "none",
      capabilities: () => ({ streaming: false, tools: false, vision: false, promptCaching: false }),
      stream() {
        throw new AgentError("CONFIG_INVALID", { message: "The session was only opened to read or stop its run." });
      },
    },
  });
