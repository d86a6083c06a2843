/*
 * Owns: which tools of a catalogue a model is shown, from the first list of a session and the changes that tools make to it.
 * Does not own: where the changes are kept (the state of hooks, in the facts of the session), how tools run (core).
 */

import type { Message, NeedsResources, Tool, ToolChoice, ToolContext } from "@loopwright/core";
import {
  type Access,
  AgentError,
  type Hooks,
  type JsonObject,
  type Labels,
  type PrepareContext,
  type PrepareVerdict,
} from "@loopwright/core";
import { afterStep, changedList, changeFromJson, changeToJson, type ListStep, stepsFromJson } from "./list-change.ts";
import { type NameRules, type RegisteredTool, type ToolSources, unionOf } from "./registered-tool.ts";

/** What the first list of a run may depend on. */
export interface ListContext {
  readonly sessionId: string;
  readonly agent: string;
  readonly access: Access;
  /** Of the input that the run answers. */
  readonly labels: Labels;
}

/** What the choice of a tool may depend on. */
export interface ChoiceContext extends ListContext {
  /** Names of the tools that the model is shown. */
  readonly shown: ReadonlySet<string>;
}

export interface SessionToolsOptions<Resources = unknown> {
  /** Names are unique over all sources. */
  readonly sources: ToolSources<Resources>;
  /** Beginnings of names that one source alone may use. Default: `_platform_` belongs to `platform`. */
  readonly names?: NameRules;
  /** The list that a run begins with, as names; others are shown once they are registered. Default: all tools whose modes and surfaces fit the labels. */
  readonly first?: (context: ListContext) => readonly string[];
  /** Which tool the first model call of a run must use. Default: none. */
  readonly choose?: (context: ChoiceContext) => ToolChoice | undefined;
  /** The beginning of the system prompt of an agent that has none. */
  readonly basePrompt?: string;
  /** The name of the set of hooks. An agent that has two lists gives them different names. Default `session-tools`. */
  readonly name?: string;
  /** The line above the rules in the prompt. Default `# When to use which tool`. */
  readonly rulesTitle?: string;
}

/** The changes that one call of a tool makes. They hold from the next model call on if the call succeeds, for all later runs of the session. */
export interface ListChanges {
  /** @throws AgentError CONFIG_INVALID for a name that the catalogue does not have */
  register(...names: readonly string[]): void;
  unregister(...names: readonly string[]): void;
  /** Takes all tools from the list. */
  clear(): void;
}

/** A catalogue of tools, of which each session has a list of its own. */
export interface SessionTools<Resources = unknown> {
  /** All of them: the `tools` of the agent. */
  readonly tools: readonly (Tool & NeedsResources<Resources>)[];
  /** Shows each model call the list of its session. One of the `hooks` of the agent; sets behind it see that list. */
  readonly hooks: Hooks;
  readonly basePrompt: string | undefined;
  get(name: string): RegisteredTool | undefined;
  /** The rules of these tools as they stand in the prompt; `undefined` when none has a rule. */
  rules(names: ReadonlySet<string>): string | undefined;
  /** For a tool: changes the list of the session that calls it. */
  of(context: Pick<ToolContext, "callKey" | "attempt" | "session" | "signal">): ListChanges;
}

const defaultNames: NameRules = { _platform_: "platform" };
const setName = "session-tools";

/** Modes of an input: the names in its label `modes`, parted by commas. */
export function modesOf(labels: Labels): readonly string[] {
  return (labels["modes"] ?? "").split(",").filter((mode) => mode !== "");
}

/** Modes of the tools that a conversation has called, in the order of their first call. */
export function usedModes(messages: readonly Message[], tools: Pick<SessionTools, "get">): readonly string[] {
  const called = messages.flatMap((message) => (message.role === "assistant" ? message.content : []));
  return [...new Set(called.flatMap((part) => (part.type === "tool_call" ? (tools.get(part.name)?.modes ?? []) : [])))];
}

/**
 * Tools of an agent, of which each session has a list that its tools can change. @throws AgentError CONFIG_INVALID when names clash or break a rule
 * @example const tools = createSessionTools({ sources: { platform: [inspect], companions: [search] } }); createAgent({ ..., tools: tools.tools, hooks: [tools.hooks] })
 */
export function createSessionTools<Resources = unknown>(options: SessionToolsOptions<Resources>): SessionTools<Resources> {
  const { sources, names = defaultNames, basePrompt, name = setName, rulesTitle = "# When to use which tool" } = options;
  const catalogue = unionOf(sources as ToolSources, names);
  const open = new Map<string, { readonly attempt: number; readonly steps: ListStep[] }>();
  const keyOf = (sessionId: string, callKey: string): string => `${sessionId} ${callKey}`;

  const rules = (shown: ReadonlySet<string>): string | undefined => {
    const lines = [...catalogue.values()].flatMap(({ tool, selectionRule }) =>
      selectionRule !== undefined && shown.has(tool.name) ? [`- ${tool.name}: ${selectionRule}`] : [],
    );
    return lines.length > 0 ? [rulesTitle, ...lines].join("\n") : undefined;
  };

  return {
    tools: [...catalogue.values()].map(({ tool }) => tool) as readonly (Tool & NeedsResources<Resources>)[],
    basePrompt,
    get: (name) => catalogue.get(name),
    rules,
    of({ callKey, attempt, session, signal }) {
      const key = keyOf(session.id, callKey);
      const kept = open.get(key);
      // What a failed attempt has asked for is gone with it.
      const { steps } = kept?.attempt === attempt ? kept : { steps: [] as ListStep[] };
      open.set(key, { attempt, steps });
      signal.addEventListener("abort", () => open.delete(key), { once: true });
      return {
        register(...added) {
          for (const name of added) if (!catalogue.has(name)) throw unknownTool(name, [...catalogue.keys()]);
          steps.push({ kind: "register", names: added });
        },
        unregister: (...removed) => void steps.push({ kind: "unregister", names: removed }),
        clear: () => void steps.push({ kind: "clear", names: [] }),
      };
    },
    hooks: {
      name,
      prepare: (context) => shownTo(context, { ...options, basePrompt, rules, catalogue }),
      review({ sessionId, call, outcome }) {
        const key = keyOf(sessionId, call.callKey);
        const steps = open.get(key)?.steps ?? [];
        open.delete(key);
        if (outcome !== "ok" || steps.length === 0) return undefined;
        return { state: { [placeOf(call.callKey)]: steps.map(({ kind, names: about }) => ({ kind, names: about })) } };
      },
    },
  };
}

interface Shown extends Pick<SessionToolsOptions, "first" | "choose"> {
  readonly basePrompt: string | undefined;
  readonly rules: (shown: ReadonlySet<string>) => string | undefined;
  readonly catalogue: ReadonlyMap<string, RegisteredTool>;
}

function shownTo(context: PrepareContext, { catalogue, first, choose, rules, basePrompt }: Shown): PrepareVerdict {
  const { state, labels, turn } = context;
  const open = Object.keys(state)
    .filter((key) => key !== "session" && state[key] !== null)
    .sort(byCall);
  const change = open.flatMap((key) => stepsFromJson(state[key])).reduce(afterStep, changeFromJson(state["session"]));
  const list = changedList(first?.(context) ?? fitting(catalogue, labels), change);
  // Tools that the catalogue does not have, as client tools of a session, stay as they are.
  const tools = [
    ...context.tools.filter(({ name }) => !catalogue.has(name)),
    ...[...catalogue.values()].flatMap(({ tool }) => (list.has(tool.name) ? [tool] : [])),
  ];
  const shown = new Set(tools.map(({ name }) => name));
  const system = [context.system ?? basePrompt, rules(shown)].filter((text) => text !== undefined).join("\n\n");
  const toolChoice = turn === 1 ? choose?.({ ...context, shown }) : undefined;
  const applied: JsonObject = Object.fromEntries(open.map((key) => [key, null]));
  return {
    tools,
    ...(system === "" ? {} : { system }),
    ...(toolChoice ? { toolChoice } : {}),
    ...(open.length > 0 ? { state: { ...applied, session: changeToJson(change) } } : {}),
  };
}

/** `<turn>.<index>` of the key of a call. */
const placeOf = (callKey: string): string => callKey.split(".").slice(-2).join(".");

/** Of places, in the order of the calls. */
function byCall(one: string, other: string): number {
  const [turn = 0, index = 0] = one.split(".").map(Number);
  const [otherTurn = 0, otherIndex = 0] = other.split(".").map(Number);
  return turn - otherTurn || index - otherIndex;
}

function fitting(catalogue: ReadonlyMap<string, RegisteredTool>, labels: Labels): readonly string[] {
  const modes = modesOf(labels);
  const surface = labels["surface"];
  return [...catalogue.values()].flatMap(({ tool, modes: wanted, surfaces }) => {
    const fits =
      (!wanted || wanted.some((mode) => modes.includes(mode))) && (!surfaces || (surface !== undefined && surfaces.includes(surface)));
    return fits ? [tool.name] : [];
  });
}

const unknownTool = (name: string, known: readonly string[]): AgentError =>
  new AgentError("CONFIG_INVALID", {
    message: `The tool \`${name.slice(0, 64)}\` cannot be registered, because no source has it.`,
    fix: `Add it to \`sources\`, or use one of ${known.join(", ")}.`,
  });
