import { type Agent, createAgent } from "../../agent/agent.ts";
import { AgentError } from "../../errors.ts";

/** For a session whose agent has that name, and that is only read or stopped: that takes no model and no tool. */
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
