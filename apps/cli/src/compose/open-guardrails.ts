import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type Agent, AgentError } from "@loopwright/core";
import type { GuardrailPolicy, Guardrails, PolicySource } from "@loopwright/guardrails";
import { oneLine } from "../terminal/neutralise.ts";

/** The options that choose guardrails. */
export interface GuardrailFlags {
  /** The place of a policy; `true`: the usual one; `false`: none is evaluated. */
  readonly guardrails?: string | boolean;
  readonly enforceGuardrails?: boolean;
}

/** A policy and whether it is kept open. */
export interface OpenedPolicy {
  readonly source: PolicySource;
  close(): void;
}

const fileName = "guardrails.json";
const sqlitePrefix = "sqlite:";

/** The policy at a place: a file, or `sqlite:<file>`. Without a place `guardrails.json`, and the default policy where it is not there. */
export async function openPolicy(place: string | undefined, directory: string = process.cwd()): Promise<OpenedPolicy> {
  const [{ filePolicy, sqliteConfig }, { storedPolicy }] = await Promise.all([
    import("@loopwright/guardrails/node"),
    import("@loopwright/guardrails"),
  ]);
  if (place?.startsWith(sqlitePrefix)) {
    const path = resolve(directory, place.slice(sqlitePrefix.length));
    if (!existsSync(path))
      throw new AgentError("CONFIG_INVALID", {
        message: `There is no policy at \`${oneLine(place, 100)}\`.`,
        fix: "Keep one there with `loopwright guardrails put`.",
      });
    const config = sqliteConfig({ path });
    return { source: storedPolicy(config), close: () => config.close() };
  }
  return { source: filePolicy(resolve(directory, place ?? fileName), { isOptional: place === undefined }), close: () => {} };
}

/** Keeps the text of a policy at `sqlite:<file>`. @throws AgentError CONFIG_INVALID for another place, STORE_* */
export async function keepPolicy(place: string, text: string): Promise<void> {
  if (!place.startsWith(sqlitePrefix))
    throw new AgentError("CONFIG_INVALID", {
      message: `\`${oneLine(place, 100)}\` is no place where a policy is kept for several processes.`,
      fix: "Name a SQLite file, such as `sqlite:.loopwright/config.db`; a JSON file is edited.",
    });
  const [{ sqliteConfig }, { guardrailsKey }] = await Promise.all([
    import("@loopwright/guardrails/node"),
    import("@loopwright/guardrails"),
  ]);
  const config = sqliteConfig({ path: resolve(place.slice(sqlitePrefix.length)) });
  try {
    await config.put(guardrailsKey, text);
  } finally {
    config.close();
  }
}

/** The guardrails of a process that runs agents. */
export interface OpenedGuardrails {
  /** The agent with the hooks of the process at the end of its own. */
  guard(agent: Agent): Agent;
  /** What the operator has to know at the start. */
  readonly warnings: readonly string[];
  close(): void;
}

/**
 * The guardrails that the options choose, read once, so that a wrong policy ends the start.
 * @throws AgentError CONFIG_INVALID, STORE_*
 */
export async function openGuardrails({ guardrails: place, enforceGuardrails: enforces = true }: GuardrailFlags): Promise<OpenedGuardrails> {
  if (place === false)
    return {
      guard: (agent) => agent,
      warnings: ["WARNING: no guardrail is evaluated (--no-guardrails): secrets reach models, logs and clients."],
      close: () => {},
    };
  const { createGuardrails, hookGroups, loggingHooks } = await import("@loopwright/guardrails");
  const { source, close } = await openPolicy(place === true ? undefined : place);
  const guardrails: Guardrails = createGuardrails({ policy: source, enforce: enforces });
  try {
    const policy = await guardrails.policy();
    const hooks = hookGroups({ logging: loggingHooks(), guardrails: guardrails.hooks });
    const warnings = [
      ...(enforces
        ? []
        : [
            "WARNING: guardrails evaluate and record, and change nothing (--enforce-guardrails=false): secrets reach models, logs and clients.",
          ]),
      ...(isIdle(policy) ? [`The guardrails in ${source.name} check nothing.`] : []),
    ];
    return { guard: (agent) => Object.freeze({ ...agent, hooks: [...agent.hooks, ...hooks] }), warnings, close };
  } catch (error) {
    close();
    throw error;
  }
}

const isIdle = ({ secrets, pii, promptInjection, commands, rules = [] }: GuardrailPolicy): boolean =>
  secrets === false && !pii && !promptInjection && !commands && rules.length === 0;
