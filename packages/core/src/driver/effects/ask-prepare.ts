/*
 * Owns: asking the prompt and the `prepare` hooks what a model call is to be, also again for the tools that it was shown.
 * Does not own: the request that is made of it (prepare-model).
 */
import type { Agent, PromptContext } from "../../agent/agent.ts";
import type { HookContext, PrepareContext, PrepareVerdict } from "../../agent/hooks.ts";
import type { Run } from "../../loop/state.ts";
import type { Message } from "../../message/message.ts";
import { createToolRegistry, type ToolRegistry } from "../../tools/tool-registry.ts";
import { hookFailed, type Reports } from "../setup/user-code.ts";

/** The model call that is prepared, and who is asked. */
export interface ModelScene {
  readonly agent: Agent;
  readonly reports: Reports;
  readonly registry: ToolRegistry;
  readonly run: Run;
  readonly context: HookContext;
  /** Copies the list: called once, and only where there is user code to give it to. */
  readonly messages: () => readonly Message[];
}

/** The text of the prompt and the combined verdict of the `prepare` hooks. */
export interface Asked {
  readonly prompt: string | undefined;
  readonly verdict: PrepareVerdict;
}

/** Asks the prompt, then the `prepare` hooks in their order. Rejects with what they throw. */
export async function askVerdict(scene: ModelScene, attempt: number): Promise<Asked> {
  const { registry, run, context } = scene;
  const messages = scene.messages();
  const { access, sessionId, turn } = context;
  const prompt = await askPrompt(scene, { access, sessionId, turn, messages, ...placeOf(run) });
  const model = run.options?.model ?? run.model;
  return { prompt, verdict: await askPrepare(scene, { ...context, attempt, messages, system: prompt, tools: registry.tools, model }) };
}

/**
 * What the `prepare` hooks show at this turn when they are asked again: the process that asked them first is gone. The messages of the
 * scene end before the answer to that model call.
 */
export async function askShownTools(scene: ModelScene): Promise<ToolRegistry> {
  const { verdict } = await askVerdict(scene, scene.run.attempt);
  return verdict.tools ? createToolRegistry(verdict.tools) : scene.registry;
}

/** Where in the product the user is. */
function placeOf({ options }: Run): { readonly activeModule?: string; readonly surface?: string } {
  return {
    ...(options?.activeModule === undefined ? {} : { activeModule: options.activeModule }),
    ...(options?.surface === undefined ? {} : { surface: options.surface }),
  };
}

async function askPrompt({ agent, reports }: ModelScene, context: PromptContext): Promise<string | undefined> {
  if (typeof agent.prompt !== "function") return agent.prompt;
  try {
    return await agent.prompt(context);
  } catch (error) {
    throw hookFailed(reports, "The function `prompt`", error);
  }
}

async function askPrepare({ agent, reports }: ModelScene, context: PrepareContext): Promise<PrepareVerdict> {
  let verdict: PrepareVerdict = {};
  try {
    for (const hooks of agent.hooks) {
      if (!hooks.prepare) continue;
      const { model = context.model, system = context.system, tools = context.tools } = verdict;
      const next = await hooks.prepare({ ...context, model, system, tools });
      if (next) verdict = { ...verdict, ...next, notices: [...(verdict.notices ?? []), ...(next.notices ?? [])] };
    }
  } catch (error) {
    throw hookFailed(reports, "The hook `prepare`", error);
  }
  return verdict;
}
