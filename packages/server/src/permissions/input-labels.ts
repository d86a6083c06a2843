import { AgentError } from "@loopwright/core";
import type { ExecuteOptions } from "@loopwright/core/protocol";
import type { LabelledOptions } from "../schemas/index.ts";
import type { ServerContext } from "../server-context.ts";
import type { LabelRule, Principal } from "../server-options.ts";

/** The sender of the labels, and the names that the deployment has declared. */
export interface LabelContext {
  readonly principal: Principal;
  readonly server: Pick<ServerContext, "options">;
}

/** Every client may name its own surface: a terminal, a page. */
const defaultLabels: { readonly [name: string]: LabelRule } = { surface: "any" };

/**
 * The options with the labels that a request may add to an input. Labels of the user come from authentication alone.
 * @throws AgentError INPUT_INVALID for a label that the deployment has not declared, or a value that its rule does not list; the error of a rule
 */
export function withLabels<Options extends LabelledOptions>(
  { surface, activeModule, labels = {}, ...options }: Options,
  { principal, server }: LabelContext,
): Omit<Options, keyof LabelledOptions> & Pick<ExecuteOptions, "labels"> {
  const all = { ...labels, ...(surface === undefined ? {} : { surface }), ...(activeModule === undefined ? {} : { activeModule }) };
  const rules = new Map(Object.entries({ ...defaultLabels, ...server.options.labels }));
  for (const [name, value] of Object.entries(all)) check({ name, value, rule: rules.get(name), names: [...rules.keys()] }, principal);
  return Object.keys(all).length === 0 ? options : { ...options, labels: all };
}

interface SentLabel {
  readonly name: string;
  readonly value: string;
  readonly rule: LabelRule | undefined;
  readonly names: readonly string[];
}

function check({ name, value, rule, names }: SentLabel, principal: Principal): void {
  const refuse = (message: string, fix: string): never => {
    throw new AgentError("INPUT_INVALID", { message, fix, details: { field: `options.labels.${name.slice(0, 64)}` } });
  };
  const label = `The label \`${name.slice(0, 64)}\``;
  if (rule === undefined)
    refuse(
      `${label} is not a label that this server takes with an input.`,
      names.length === 0 ? "Leave it out." : `Use ${names.join(", ")}.`,
    );
  else if (typeof rule === "function") rule(value, principal);
  else if (rule !== "any" && !rule.includes(value))
    refuse(`${label} has a value that this server does not take.`, `Use ${rule.join(", ")}.`);
}
