/*
 * Owns: running the prompt and the `prepare` hooks before a model call, and again when another process needs the tools of that call.
 * Does not own: the request that results (prepare-model-call).
 */
import type { HookContext, PrepareContext, PrepareVerdict } from "../../agent/hooks.ts";
import { type PromptContext, type PromptLayer, promptLayers } from "../../agent/prompt-layer.ts";
import type { Message } from "../../message/message.ts";
import { wellFormed } from "../../message/well-formed-text.ts";
import type { SystemPart } from "../../ports/model-provider.ts";
import { validMessages } from "../../prompt/added-messages.ts";
import { systemText } from "../../prompt/system-text.ts";
import { createToolRegistry, type ToolRegistry } from "../../tools/tool-registry.ts";
import { hookFailed } from "../setup/user-code-errors.ts";
import type { HookDeps } from "./hook-deps.ts";
import { HookRunner, type HookTrace } from "./hook-runner.ts";
import { type ModelSeeker, resolvedModel } from "./resolve-model.ts";

/** The model call in preparation, and its hooks. */
export interface ModelCallDeps extends ModelSeeker {
  readonly registry: ToolRegistry;
  readonly asking: HookDeps;
  /** Copies the list. Called once, and only if there is user code that gets the copy. */
  readonly messages: () => readonly Message[];
}

/** The parts of the prompt, the combined verdict of the `prepare` hooks, and what they add to the fact. */
export interface PreparedVerdict {
  readonly prompt: readonly SystemPart[];
  readonly verdict: PrepareVerdict;
  readonly trace?: HookTrace;
}

/** Runs the prompt, then the `prepare` hooks in order. Rejects with the first error. */
export async function askVerdict(
  setup: ModelCallDeps,
  { attempt, model }: { readonly attempt: number; readonly model: string },
): Promise<PreparedVerdict> {
  const { registry, run, context } = setup;
  const messages = setup.messages();
  const { access, sessionId, turn } = context;
  const prompt = await askPrompt(setup, { access, sessionId, turn, messages, labels: run.labels ?? {} });
  return { prompt, ...(await askPrepare(setup, { attempt, messages, system: systemText(prompt), tools: registry.tools, model })) };
}

/**
 * The tools of this turn. The `prepare` hooks are called again to get the tools, because the process that called the hooks first is gone. The setup
 * must have the messages that the hooks got at that time: those before the answer of the model.
 */
export async function askShownTools(setup: ModelCallDeps): Promise<ToolRegistry> {
  const { model } = await resolvedModel(setup);
  const { verdict } = await askVerdict(setup, { attempt: setup.run.attempt, model });
  return verdict.tools ? createToolRegistry(verdict.tools) : setup.registry;
}

/** The layers of the agent's prompt, or the single layer of the run that replaces them. */
export function layersOf({ agent, run }: Pick<ModelCallDeps, "agent" | "run">): readonly PromptLayer[] {
  const own = run.options?.systemPrompt;
  return own === undefined ? promptLayers(agent.prompt) : [{ text: own, source: "request", cache: "session" }];
}

/** Renders the prompt. Layers that are functions are called at the same time. */
async function askPrompt(setup: ModelCallDeps, context: PromptContext): Promise<readonly SystemPart[]> {
  const { reports } = setup;
  const layers = layersOf(setup);
  const ask = async ({ text }: PromptLayer): Promise<string | undefined> => (typeof text === "function" ? text(context) : text);
  try {
    return systemParts(layers, await Promise.all(layers.map(ask)));
  } catch (error) {
    throw hookFailed(reports, "The function `prompt`", error);
  }
}

type Prepares = Omit<PrepareContext, keyof HookContext>;

async function askPrepare({ agent, reports, asking }: ModelCallDeps, first: Prepares): Promise<Omit<PreparedVerdict, "prompt">> {
  const asks = new HookRunner(asking, "prepare");
  let verdict: PrepareVerdict = {};
  try {
    for (const hooks of agent.hooks) {
      if (!hooks.prepare) continue;
      const { model = first.model, system = first.system, tools = first.tools, messages = first.messages } = verdict;
      const context: PrepareContext = { ...asks.context(hooks), attempt: first.attempt, model, system, tools, messages };
      const next = (await hooks.prepare(context)) ?? undefined;
      asks.take(hooks, next);
      const changes = changesOf(next ?? {}, context);
      asks.note(hooks, { action: changes.join(", ") || "unchanged", reason: next?.reason });
      if (next) verdict = { ...verdict, ...next, ...bothOf(verdict, next) };
      if (next?.stop) break;
    }
    return { verdict, trace: await asks.trace() };
  } catch (error) {
    throw hookFailed(reports, asks.place(), error);
  }
}

/** The members of which each hook adds its own to those of the hooks before it. */
function bothOf(verdict: PrepareVerdict, next: PrepareVerdict): PrepareVerdict {
  return {
    notices: [...(verdict.notices ?? []), ...(next.notices ?? [])],
    examples: [...(verdict.examples ?? []), ...validMessages(next.examples ?? [])],
    inputPrefix: `${verdict.inputPrefix ?? ""}${next.inputPrefix ?? ""}`,
    reminders: [...(verdict.reminders ?? []), ...(next.reminders ?? [])],
  };
}

/** The names of the members that the verdict changes. */
function changesOf({ state: _, reason: __, ...verdict }: PrepareVerdict, context: PrepareContext): readonly string[] {
  return Object.entries(verdict).flatMap(([name, value]) => {
    if (value === undefined || value === false || value === context[name as keyof PrepareContext]) return [];
    if (Array.isArray(value) && isSameList(value, name in context ? context[name as keyof PrepareContext] : [])) return [];
    return [name];
  });
}

const isSameList = (one: readonly unknown[], other: unknown): boolean =>
  Array.isArray(other) && one.length === other.length && one.every((item, index) => item === other[index]);

/** One part for each layer that has a text; stable parts come first. */
export function systemParts(layers: readonly PromptLayer[], texts: readonly (string | undefined)[]): readonly SystemPart[] {
  const parts = layers.flatMap((layer, at): readonly SystemPart[] => {
    const text = texts[at] ?? "";
    if (text.trim() === "") return [];
    const { source = "agent", cache = typeof layer.text === "string" ? "stable" : "session" } = layer;
    return [{ text: wellFormed(text), source, cache }];
  });
  const of = (cache: SystemPart["cache"]): readonly SystemPart[] => parts.filter((part) => part.cache === cache);
  return [...of("stable"), ...of("session")];
}
