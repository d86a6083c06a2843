import { AgentError } from "@loopwright/core";
import type { ExecuteOptions, Labels } from "@loopwright/core/protocol";
import { isFileName } from "@loopwright/core/stores";
import type { LabelledOptions } from "../schemas/index.ts";
import type { ServerContext } from "../server-context.ts";
import type { LabelRule, Principal } from "../server-options.ts";
import { unknownFile } from "./unknown-file.ts";

/** The sender of the labels, and the names that the deployment has declared. */
export interface LabelContext {
  readonly principal: Principal;
  readonly server: Pick<ServerContext, "options">;
}

/** Every client may name its own surface, a terminal or a page, ask for an answer without tools, and attach files of its scope. */
const defaultLabels: { readonly [name: string]: LabelRule } = {
  surface: "any",
  toolsRequired: ["true", "false"],
  attachments(key) {
    // Whether the scope has the file is looked up when it is attached.
    if (!isFileName(key)) throw unknownFile(key);
  },
};
/** Labels that hold several values, separated by commas; the rule of the label checks each. */
const lists: ReadonlySet<string> = new Set(["modes", "attachments"]);

/**
 * The options with the labels that a request may add to an input. Labels of the user come from authentication alone.
 * @throws AgentError INPUT_INVALID for a label that the deployment has not declared, or a value that its rule does not list; the error of a rule
 */
export function withLabels<Options extends LabelledOptions>(
  { surface, activeModule, modes, toolsRequired, attachments, chatbotId, labels = {}, ...options }: Options,
  { principal, server }: LabelContext,
): Omit<Options, keyof LabelledOptions> & Pick<ExecuteOptions, "labels"> {
  const all: Labels = {
    ...labels,
    ...(surface === undefined ? {} : { surface }),
    ...(activeModule === undefined ? {} : { activeModule }),
    ...(modes === undefined || modes.length === 0 ? {} : { modes: modes.join() }),
    ...(toolsRequired === undefined ? {} : { toolsRequired: String(toolsRequired) }),
    ...(attachments === undefined || attachments.length === 0 ? {} : { attachments: attachments.join() }),
    ...(chatbotId === undefined ? {} : { chatbotId }),
  };
  const rules = new Map(Object.entries({ ...defaultLabels, ...server.options.labels }));
  for (const [name, value] of Object.entries(all))
    for (const one of lists.has(name) ? value.split(",") : [value])
      check({ name, value: one, rule: rules.get(name), names: [...rules.keys()] }, principal);
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
  if (name === "modes" && (rule === undefined || (Array.isArray(rule) && !rule.includes(value)))) {
    const taken = Array.isArray(rule) && rule.length > 0 ? `Use ${rule.join(", ")}.` : "Leave `modes` out.";
    refuse(`The mode \`${value.slice(0, 64)}\` is not a mode that this server takes.`, taken);
  }
  if (rule === undefined)
    refuse(
      `${label} is not a label that this server takes with an input.`,
      names.length === 0 ? "Leave it out." : `Use ${names.join(", ")}.`,
    );
  else if (typeof rule === "function") rule(value, principal);
  else if (rule !== "any" && !rule.includes(value))
    refuse(`${label} has a value that this server does not take.`, `Use ${rule.join(", ")}.`);
}
