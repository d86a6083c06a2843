import { AgentError } from "@loopwright/core";
import type { RunOptions } from "@loopwright/core/protocol";
import { checkModule } from "../modules/check-module.ts";
import type { SessionContext } from "../schemas/index.ts";
import type { Principal } from "../server-options.ts";
import type { ServerScene } from "../server-scene.ts";
import { checkContext, checkModel, modelsOf } from "./check-trust.ts";

/** What a caller asks of an agent. */
export interface Wish {
  /** By name. */
  readonly agent: string;
  readonly context?: SessionContext | undefined;
  readonly options?: RunOptions | undefined;
}

/** Whether this caller may ask for it. @throws AgentError FORBIDDEN, AGENT_NOT_FOUND, MODULE_UNKNOWN, INPUT_INVALID */
export function admit(
  principal: Principal,
  { agent: name, context, options = {} }: Wish,
  scene: Pick<ServerScene, "options" | "limits">,
): void {
  const agent = scene.options.agents.find((one) => one.name === name);
  if (!agent) throw new AgentError("AGENT_NOT_FOUND", { message: `This server has no agent \`${name.slice(0, 64)}\`.` });
  checkModule(options, scene.options);
  checkContext(principal, context, scene.limits);
  checkModel(principal, options, modelsOf(agent, scene.options));
}
