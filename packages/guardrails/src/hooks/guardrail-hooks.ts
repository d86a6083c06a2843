/*
 * Owns: at which point of a run a text is checked, and which verdict follows. Does not own: what is found (checks), which policy holds (source).
 * Text that is hidden is hidden by the filter, before it is streamed or kept; the hook after it records that, and refuses the whole where the policy
 * blocks. That hook looks at the whole once more: for checks that only record, and for what other hooks have put in.
 */
import type {
  AcceptContext,
  AcceptVerdict,
  DecideContext,
  DecideVerdict,
  FilterContext,
  GateContext,
  Hooks,
  ReviewContext,
  ReviewVerdict,
  UserMessage,
} from "@loopwright/core";
import type { CompiledPolicy } from "../checks/compile-policy.ts";
import { type Finding, placeholderOf, redact, type TextPlace } from "../checks/finding.ts";
import type { Gate } from "../policy/guardrail-policy.ts";
import type { LivePolicy } from "../source/live-policy.ts";
import {
  blockersOf,
  type CheckedText,
  isHidden,
  reasonOf,
  textsOfAnswer,
  textsOfArguments,
  textsOfInput,
  verdictsOf,
} from "./judgement.ts";
import { type HiddenRules, type RunFindings, runFindings } from "./run-findings.ts";

export interface GuardrailHooksParts {
  readonly name: string;
  readonly live: LivePolicy;
}

const withheld = "This answer was withheld by a guardrail.";

/** The set of hooks. */
export function guardrailHooks({ name, live }: GuardrailHooksParts): Hooks {
  const hidden = runFindings();
  return {
    name,
    isInherited: true,
    accept: async (context) => judgeInput(context, (await live.refresh(context.logger)).compiled),
    run: {
      async start({ logger }) {
        await live.refresh(logger);
      },
      end: (context) => hidden.end(runOf(context)),
    },
    async prepare({ logger }) {
      await live.refresh(logger);
    },
    filter: {
      // Before the policy is read nothing may be shown.
      holdBack: (text) => live.held?.compiled.tailOf(text) ?? text.length,
      apply(text, context) {
        const { held } = live;
        if (!held) return live.refresh(context.logger).then(({ compiled }) => filtered(text, context, { compiled, hidden }));
        return filtered(text, context, { compiled: held.compiled, hidden });
      },
    },
    decide: async (context) => judgeAnswer(context, { compiled: (await live.refresh()).compiled, hidden }),
    gate: async (context) => judgeCall(context, { compiled: (await live.refresh()).compiled, hidden }),
    review: async (context) => judgeOutput(context, { compiled: (await live.refresh()).compiled, hidden }),
  };
}

interface Judging {
  readonly compiled: CompiledPolicy;
  readonly hidden: RunFindings;
}

const runOf = ({ sessionId, runId }: { readonly sessionId: string; readonly runId: string }): string => `${sessionId}\n${runId}`;
const answerPlace = (turn: number): string => `answer ${turn}`;
const argumentsPlace = (turn: number, tool: string | undefined): string => `arguments ${turn} ${tool ?? ""}`;

const gates: { readonly [Kind in FilterContext["kind"]]: Gate } = {
  text: "output",
  thinking: "output",
  arguments: "tool_call",
  tool: "tool_output",
  progress: "tool_output",
};

function filtered(text: string, context: FilterContext, { compiled, hidden }: Judging): string | Promise<string> {
  const { kind, tool, turn, callKey } = context;
  const place: TextPlace = { gate: gates[kind], tool };
  const show = (findings: readonly Finding[]): string => {
    const toHide = findings.filter((finding) => isHidden(finding, place));
    hidden.add(runOf(context), callKey ?? (kind === "arguments" ? argumentsPlace(turn, tool) : answerPlace(turn)), toHide);
    return redact(text, toHide);
  };
  const found = compiled.check(text, place);
  return "then" in found ? found.then(show) : show(found);
}

async function checkedTexts(texts: readonly string[], place: TextPlace, compiled: CompiledPolicy): Promise<readonly CheckedText[]> {
  return Promise.all(texts.map(async (text) => ({ text, findings: await compiled.check(text, place) })));
}

const findingsOf = (checked: readonly CheckedText[]): readonly Finding[] => checked.flatMap(({ findings }) => findings);

/** What the filter hid of a text and is in it still: what it hid while a text grew may have become part of something else. */
const confirmed = (rules: HiddenRules, text: string): readonly Finding[] =>
  [...rules.values()].filter(({ rule }) => text.includes(placeholderOf(rule)));

async function judgeInput(context: AcceptContext, compiled: CompiledPolicy): Promise<AcceptVerdict> {
  const place: TextPlace = { gate: "input" };
  const { message } = context;
  const checked = await checkedTexts(textsOfInput(message), place, compiled);
  const findings = findingsOf(checked);
  for (const { action, reason } of verdictsOf(findings, place))
    if (action === "warn" || action.startsWith("would_")) context.note(action, reason);
  const blockers = blockersOf(findings);
  const toHide = findings.filter((finding) => isHidden(finding, place) && (finding.action === "redact" || finding.category !== "rule"));
  const reply = blockers.find((one) => one.reply !== undefined)?.reply;
  if (blockers.length > 0 || (toHide.length > 0 && context.isRegenerated)) {
    const reason = reasonOf(place, rulesOf(blockers.length > 0 ? blockers : toHide));
    // The message is kept with its answer: one with something to hide is refused.
    if (reply !== undefined && toHide.length === 0) return { action: "answer", text: reply, reason };
    return { action: "refuse", reason: `A guardrail refused the message (${reason}).` };
  }
  if (toHide.length === 0) return { action: "allow" };
  return {
    action: "edit",
    message: redactedInput(message, checked, place),
    reason: reasonOf(place, rulesOf(toHide)),
  };
}

/** The text without what is hidden at this place. */
const shownText = ({ text, findings }: CheckedText, place: TextPlace): string =>
  redact(
    text,
    findings.filter((finding) => isHidden(finding, place)),
  );

const rulesOf = (findings: readonly Pick<Finding, "rule">[]): readonly string[] => findings.map(({ rule }) => rule);

function redactedInput(message: UserMessage, checked: readonly CheckedText[], place: TextPlace): UserMessage {
  const { content } = message;
  const shown = checked.map((one) => shownText(one, place));
  if (typeof content === "string") return { ...message, content: shown[0] ?? "" };
  let at = 0;
  return { ...message, content: content.map((part) => (part.type === "text" ? { ...part, text: shown[at++] ?? "" } : part)) };
}

async function judgeAnswer(context: DecideContext, { compiled, hidden }: Judging): Promise<DecideVerdict | undefined> {
  const place: TextPlace = { gate: "output" };
  const checked = await checkedTexts(textsOfAnswer(context.message), place, compiled);
  const left = findingsOf(checked);
  const found = [...confirmed(hidden.take(runOf(context), answerPlace(context.turn)), checked.map(({ text }) => text).join("\n")), ...left];
  const blockers = blockersOf(found);
  for (const { action, reason } of verdictsOf(found, place)) if (action !== "block") context.note(action, reason);
  if (blockers.length > 0) {
    const reason = reasonOf(place, rulesOf(blockers));
    return { answer: blockers.find(({ reply }) => reply !== undefined)?.reply ?? withheld, reason };
  }
  // Only what another hook has answered can still hold what the filter hides.
  if (!left.some((finding) => isHidden(finding, place))) return undefined;
  const answer = checked.map((one) => shownText(one, place)).join("\n");
  return {
    answer,
    reason: reasonOf(place, rulesOf(left)),
  };
}

async function judgeCall(context: GateContext, { compiled, hidden }: Judging): Promise<ReturnType<NonNullable<Hooks["gate"]>>> {
  const { call, turn } = context;
  const place: TextPlace = { gate: "tool_call", tool: call.name };
  const texts = textsOfArguments(call.args);
  const checked = await checkedTexts(texts, place, compiled);
  const before = confirmed(hidden.take(runOf(context), argumentsPlace(turn, call.name), { keep: true }), texts.join("\n"));
  const found = [...before, ...findingsOf(checked)];
  for (const { action, reason } of verdictsOf(found, place)) if (action !== "block") context.note(action, reason);
  const blockers = blockersOf(found);
  if (blockers.length === 0) return { action: "allow" };
  return {
    action: "deny",
    reason: `A guardrail refused the call (${reasonOf(place, rulesOf(blockers))}).`,
  };
}

async function judgeOutput(context: ReviewContext, { compiled, hidden }: Judging): Promise<ReviewVerdict | undefined> {
  const { call, output } = context;
  const place: TextPlace = { gate: "tool_output", tool: call.name };
  const left = await compiled.check(output, place);
  const found = [...hidden.take(runOf(context), call.callKey).values(), ...left];
  for (const { action, reason } of verdictsOf(found, place)) if (action !== "block") context.note(action, reason);
  const blockers = blockersOf(found);
  if (blockers.length > 0) {
    const reason = `A guardrail blocked the output (${reasonOf(place, rulesOf(blockers))}).`;
    return { fail: true, output: blockers.find(({ reply }) => reply !== undefined)?.reply ?? `[blocked] ${reason}`, reason };
  }
  const toHide = left.filter((finding) => isHidden(finding, place));
  return toHide.length === 0
    ? undefined
    : {
        output: redact(output, toHide),
        reason: reasonOf(place, rulesOf(toHide)),
      };
}
