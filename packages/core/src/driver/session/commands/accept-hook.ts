/*
 * Owns: the calls of the `accept` hooks for a message before it is offered to the log, and the input that results.
 * Does not own: whether the log takes the input (accept-input).
 */
import type { AcceptContext, AcceptVerdict, Hooks } from "../../../agent/hooks.ts";
import { AgentError } from "../../../errors.ts";
import { at } from "../../../loop/append-list.ts";
import type { Verdict } from "../../../loop/fact.ts";
import { placeOf } from "../../../loop/fold-inputs.ts";
import type { State } from "../../../loop/state.ts";
import type { UserMessage } from "../../../message/message.ts";
import { checkInput } from "../../../protocol/checked-input.ts";
import { cutText } from "../../../tools/cut-text.ts";
import { toolLimits } from "../../../tools/tool-limits.ts";
import { noRun } from "../../children/child-start-checks.ts";
import { countVerdict } from "../../effects/hook-counts.ts";
import { checkedNote, hookPlace } from "../../effects/hook-runner.ts";
import { driverLimits } from "../../setup/driver-limits.ts";
import type { Deps } from "../../setup/session-deps.ts";
import { hookFailed } from "../../setup/user-code-errors.ts";
import { knownInput, type NewInput } from "./accept-input.ts";

/** The parts of the log that the hooks need. */
interface Log {
  readonly state: State;
  load(): Promise<void>;
}

/** True if an `accept` hook must be called for messages. */
export const hasAcceptHooks = ({ bound }: Deps): boolean => bound.agent.hooks.some(({ accept }) => accept);

/**
 * The input with the changes of the hooks. The hooks are not called for an input that the log already has, and a refused input is not recorded.
 * @throws AgentError INPUT_REFUSED, HOOK_FAILED, HOOK_TIMEOUT, and what reading the log throws
 */
export async function runAcceptHooks(input: NewInput, { deps, log }: { readonly deps: Deps; readonly log: Log }): Promise<NewInput> {
  await log.load();
  const message = input.message ?? regenerated(input, log.state);
  if (!message || knownInput(log.state, input)) return input;
  const controller = new AbortController();
  let cancel = (): void => {};
  const asking: Asking = { deps, isRegenerated: !input.message, signal: controller.signal };
  const tooLong = new Promise<never>((_, reject) => {
    cancel = deps.clock.after(driverLimits.acceptMs, () => {
      const error = acceptTimeout(asking.asked);
      reject(error);
      controller.abort(error);
    });
  });
  try {
    return await Promise.race([askAll({ ...input, message }, asking), tooLong]);
  } catch (error) {
    throw hookFailed(deps, hookPlace("accept", asking.asked), error);
  } finally {
    cancel();
  }
}

interface Asking {
  readonly deps: Deps;
  readonly isRegenerated: boolean;
  readonly signal: AbortSignal;
  /** The set of hooks that was called last. */
  asked?: Hooks;
}

async function askAll(given: NewInput & { readonly message: UserMessage }, asking: Asking): Promise<NewInput> {
  const { deps, isRegenerated, signal } = asking;
  const { agent } = deps.bound;
  const base = {
    sessionId: deps.sessionId,
    access: deps.access,
    labels: given.options.labels ?? {},
    agent: agent.name,
    logger: deps.logger,
    resources: agent.resources,
    signal,
    // The type of the context has no `child`.
    child: () => Promise.reject(noRun()),
  };
  const verdicts: Verdict[] = [];
  let { message } = given;
  let answer: string | undefined;
  for (const hooks of agent.hooks) {
    if (!hooks.accept || answer !== undefined) continue;
    asking.asked = hooks;
    const note: AcceptContext["note"] = (given, why) => {
      const { action, reason } = checkedNote({ action: given, reason: why });
      countVerdict(agent.hooks, { hook: hooks.name, point: "accept", action });
      verdicts.push({ hook: hooks.name, point: "accept", action, ...(reason === undefined ? {} : { reason }) });
    };
    const context: AcceptContext = { ...base, message, isRegenerated, note };
    const verdict = (await hooks.accept(context)) ?? undefined;
    const action = verdict?.action ?? "unchanged";
    const hook = hooks.name;
    countVerdict(agent.hooks, { hook, point: "accept", action });
    if (verdict?.action === "refuse") throw refused(verdict.reason);
    if (verdict?.action === "edit") message = edited(verdict, isRegenerated);
    if (verdict?.action === "answer") answer = verdict.text;
    const reason = verdict && "reason" in verdict && verdict.reason !== undefined ? { reason: shown(verdict.reason) } : {};
    if (action === "edit" || action === "answer") verdicts.push({ hook, point: "accept", action, ...reason });
  }
  return {
    ...given,
    ...(isRegenerated ? { message: undefined } : { message }),
    ...(message === given.message ? {} : { given: given.message }),
    ...(answer === undefined ? {} : { answer }),
    ...(verdicts.length > 0 ? { verdicts } : {}),
  };
}

/** @throws AgentError INPUT_INVALID when the hook returns a value that is not a message */
function edited({ message }: Extract<AcceptVerdict, { readonly action: "edit" }>, isRegenerated: boolean): UserMessage {
  if (isRegenerated) throw new TypeError("A message that is answered again cannot be edited.");
  checkInput(message);
  return typeof message === "string" ? { role: "user", content: message } : message;
}

const shown = (reason: string): string => cutText(reason, toolLimits.errorTextMax);

const refused = (reason: string): AgentError => new AgentError("INPUT_REFUSED", { message: shown(reason), retryable: false });

/** The message that a regeneration answers again. */
function regenerated({ regenerate }: NewInput, state: State): UserMessage | undefined {
  const index = regenerate === undefined ? undefined : placeOf(state, regenerate);
  const message = index === undefined ? undefined : at(state.history, index)?.message;
  return message?.role === "user" ? message : undefined;
}

const acceptTimeout = (hooks: Hooks | undefined): AgentError =>
  new AgentError("HOOK_TIMEOUT", {
    message: `${hookPlace("accept", hooks)} did not answer within ${driverLimits.acceptMs} ms.`,
    details: { timeoutMs: driverLimits.acceptMs },
  });
