import { type Agent, isAgent } from "../../agent/agent.ts";
import { AgentError } from "../../errors.ts";
import type { KeyedChild, Run, State } from "../../loop/state.ts";
import { sha256 } from "../../message/sha256.ts";
import { shownId } from "../../message/shown-id.ts";
import { checkInput } from "../../protocol/checked-input.ts";
import type { ChildPlace } from "./child-facts.ts";

const keyMax = 200;

/** @throws AgentError INPUT_INVALID, CONFIG_INVALID */
export function checkRequest({ key, agent, input }: { readonly key: string; readonly agent: unknown; readonly input: unknown }): Agent {
  if (typeof key !== "string" || key.trim() === "" || key.length > keyMax) throw badKey(key);
  if (!isAgent(agent)) throw noAgent(key);
  checkInput(input as string);
  return agent;
}

/** The child that was started under this key. */
export const linked = ({ children = [] }: Run, { callKey }: ChildPlace, key: string): KeyedChild | undefined =>
  children.find((child) => child.key === key && child.callKey === callKey);

/** True if the call or run that starts the child is open. */
export function isWanted({ run }: State, { runId, callKey }: ChildPlace): boolean {
  if (run?.runId !== runId || run.abort) return false;
  return callKey === undefined || run.calls.some(({ part, state }) => part.callKey === callKey && state !== "done");
}

/** True if the run that starts the child has not begun in the log: its input is queued. */
export const isAhead = ({ inputs }: State, { runId }: ChildPlace): boolean => inputs.some((input) => input.runId === runId);

/** The run that may start a child in this place. @throws AgentError */
export function openRun(state: State, place: ChildPlace): Run {
  if (state.run?.runId === place.runId && isWanted(state, place)) return state.run;
  if (state.run?.runId === place.runId && state.run.abort) throw new AgentError("RUN_ABORTED", { message: "The run was stopped." });
  throw noRun();
}

/** The id of the child's session. In each process it is the same for the same key of the same call. */
export async function childId(session: string, { runId, callKey }: ChildPlace, key: string): Promise<string> {
  const digest = await sha256(new TextEncoder().encode(JSON.stringify([session, runId, callKey ?? null, key])));
  return `child-${digest.slice(0, 40)}`;
}

/** A promise that is never settled, for user code whose result is no longer used. */
export const never = (): Promise<never> => new Promise(() => {});

export const noRun = (): AgentError =>
  new AgentError("CONFIG_INVALID", {
    message: "A child can only be started while its run is open.",
    fix: "Start it in a tool that still runs, or in the hook `prepare`, `parse`, `decide`, `gate` or `review`.",
  });

const badKey = (key: unknown): AgentError =>
  new AgentError("INPUT_INVALID", {
    message: `The key \`${shownId(String(key))}\` of a child is not usable.`,
    fix: `Use 1 to ${keyMax} characters, the same ones each time the call runs.`,
  });

const noAgent = (key: string): AgentError =>
  new AgentError("CONFIG_INVALID", { message: `The child \`${shownId(key)}\` has no agent.`, fix: "Pass what `createAgent` returned." });

export const otherChild = (key: string): AgentError =>
  new AgentError("KEY_REUSED", {
    message: `The child \`${shownId(key)}\` was started with another agent or another input, or once in the background and once not.`,
    fix: "Give each child of a call, or of the hooks of a run, a key of its own.",
  });
