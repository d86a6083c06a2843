import type { Json } from "@loopwright/core";
import { badArguments } from "./bad-arguments.ts";

/** A name, an index (negative: from the end), or every member. */
export type PathStep = string | number | typeof everyMember;
export const everyMember: unique symbol = Symbol("*");

const stepPattern = /\.?([^.[\]"'*\s]+)|\.?(\*)|\[\s*(?:(-?\d+)|(\*)|("(?:[^"\\]|\\.)*")|'([^']*)')\s*\]/y;
const stepsMax = 64;

/** The steps of a path such as `users[0].name`, `$.rows[*].id` or `["odd key"]`. @throws AgentError TOOL_ARGUMENTS */
export function stepsOf(path: string): readonly PathStep[] {
  const steps: PathStep[] = [];
  let at = path.startsWith("$") ? 1 : 0;
  while (at < path.length) {
    stepPattern.lastIndex = at;
    const found = path.startsWith("..", at) ? null : stepPattern.exec(path);
    if (!found)
      throw badArguments(`The path cannot be read from character ${at + 1} on.`, 'Write it like users[0].name, rows[*].id or ["odd key"].');
    steps.push(stepOf(found));
    if (steps.length > stepsMax) throw badArguments(`The path has more than ${stepsMax} steps.`);
    at = stepPattern.lastIndex;
  }
  return steps;
}

function stepOf([, name, star, index, bracketStar, quoted, singleQuoted]: RegExpExecArray): PathStep {
  if (star ?? bracketStar) return everyMember;
  if (index !== undefined) return Number(index);
  if (singleQuoted !== undefined) return singleQuoted;
  if (quoted === undefined) return name ?? "";
  try {
    return String(JSON.parse(quoted));
  } catch {
    throw badArguments(`The quoted name ${quoted} in the path is not valid.`);
  }
}

/** Every value that the steps lead to. A missing member is an error that names what is there, unless a `*` came before it. */
export function pick(value: Json, steps: readonly PathStep[], valuesMax: number): readonly Json[] {
  let values: readonly Json[] = [value];
  let isMany = false;
  for (const [index, step] of steps.entries()) {
    if (step === everyMember) {
      isMany = true;
      values = values.flatMap((each) => (typeof each === "object" && each !== null ? Object.values(each) : []));
      if (values.length > valuesMax) throw badArguments(`The path leads to more than ${valuesMax} values.`, "Make it more exact.");
      continue;
    }
    const found = values.map((each) => memberOf(each, step)).filter((member) => member !== undefined);
    if (found.length === 0 && !isMany)
      throw badArguments(`There is no ${shownStep(step)} at step ${index + 1} of the path: ${describe(values[0])}.`);
    values = found;
  }
  return values;
}

function memberOf(value: Json, step: string | number): Json | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) return typeof step === "number" ? value.at(step) : undefined;
  const name = String(step);
  return Object.hasOwn(value, name) ? (value as { readonly [key: string]: Json })[name] : undefined;
}

function shownStep(step: string | number): string {
  return typeof step === "number" ? `[${step}]` : JSON.stringify(step.slice(0, 100));
}

/** What a value is, in a few words. */
export function describe(value: Json | undefined): string {
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value !== "object" || value === null) return value === null || value === undefined ? "null" : `a ${typeof value}`;
  const keys = Object.keys(value);
  const shown = keys.slice(0, 20).map((key) => JSON.stringify(key.slice(0, 50)));
  return `an object with ${keys.length} keys${keys.length > 0 ? `: ${shown.join(", ")}${keys.length > 20 ? ", ..." : ""}` : ""}`;
}
