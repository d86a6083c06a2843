import { callsOf, type Message, readHistory, type SessionStore } from "@loopwright/core";
import type { SessionRef, SessionSummary } from "@loopwright/core/ports";
import { type CompiledPolicy, compilePolicy } from "../checks/compile-policy.ts";
import type { TextPlace } from "../checks/finding.ts";
import { type GuardrailVerdict, textOfOutput, textsOfAnswer, textsOfArguments, textsOfInput, verdictsOf } from "../hooks/judgement.ts";
import type { Gate, GuardrailPolicy } from "../policy/guardrail-policy.ts";
import { checkPolicy } from "../source/parse-policy.ts";

export interface BacktestOptions {
  readonly store: SessionStore;
  readonly scope: string;
  /** The policy that is tried. */
  readonly policy: GuardrailPolicy;
  /** Sessions at most, the newest first, without those that agents have started. Default 1,000. */
  readonly sessionsMax?: number;
  readonly signal?: AbortSignal;
}

/** A verdict that the policy would have given on a text of a stored session. */
export interface BacktestHit extends GuardrailVerdict {
  readonly session: string;
  /** `<seq>.<k>` of the event with the text. */
  readonly cursor: string;
}

export interface BacktestReport {
  readonly sessions: number;
  /** Sessions that could not be read. */
  readonly unreadable: readonly string[];
  /** Messages, calls and outputs that were checked. */
  readonly checked: { readonly [At in Gate]: number };
  readonly hits: readonly BacktestHit[];
}

const pageSize = 100;

/**
 * The verdicts of a policy on the texts of stored sessions, equal to those that it would have given live in shadow mode: the same checks on the same texts. Text that is
 * kept redacted stays so.
 * @throws AgentError CONFIG_INVALID for a policy that cannot be used, STORE_* where the list of sessions cannot be read
 */
export async function backtest({ store, scope, policy, sessionsMax = 1_000, signal }: BacktestOptions): Promise<BacktestReport> {
  const compiled = compilePolicy(checkPolicy(policy, "the policy"), { isShadow: true });
  const checked = { input: 0, output: 0, tool_call: 0, tool_output: 0 };
  const hits: BacktestHit[] = [];
  const unreadable: string[] = [];
  let sessions = 0;
  for await (const { id } of newest(store, { scope, sessionsMax })) {
    signal?.throwIfAborted();
    sessions += 1;
    try {
      const found = await inSession({ store, ref: { scope, session: id }, compiled, count: (gate) => checked[gate]++ });
      hits.push(...found);
    } catch {
      unreadable.push(id);
    }
  }
  return { sessions, unreadable, checked, hits };
}

async function* newest(
  { index }: SessionStore,
  { scope, sessionsMax }: { readonly scope: string; readonly sessionsMax: number },
): AsyncGenerator<SessionSummary> {
  let left = sessionsMax;
  for (let before: SessionSummary | undefined; left > 0; ) {
    const page = await index.list(scope, { limit: Math.min(pageSize, left), ...(before ? { before } : {}) });
    yield* page;
    left -= page.length;
    before = page.at(-1);
    if (page.length === 0) return;
  }
}

interface SessionToCheck {
  readonly store: SessionStore;
  readonly ref: SessionRef;
  readonly compiled: CompiledPolicy;
  readonly count: (gate: Gate) => void;
}

async function inSession({ store, ref, compiled, count }: SessionToCheck): Promise<readonly BacktestHit[]> {
  const hits: BacktestHit[] = [];
  for await (const events of readHistory(store, ref))
    for (const event of events) {
      if (event.type !== "message_end") continue;
      for (const { place, texts } of textsOf(event.message)) {
        count(place.gate);
        const found = (await Promise.all(texts.map((text) => compiled.check(text, place)))).flat();
        hits.push(...verdictsOf(found, place).map((verdict) => ({ session: ref.session, cursor: `${event.seq}.${event.k}`, ...verdict })));
      }
    }
  return hits;
}

interface PlacedTexts {
  readonly place: TextPlace;
  readonly texts: readonly string[];
}

/** The texts of a message that the hooks are asked about: whole answers, calls, and outputs of tools that ran here. */
function textsOf(message: Message): readonly PlacedTexts[] {
  switch (message.role) {
    case "user":
      return [{ place: { gate: "input" }, texts: textsOfInput(message) }];
    case "assistant":
      if (message.stopReason === "error" || message.stopReason === "aborted") return [];
      return [
        { place: { gate: "output" }, texts: textsOfAnswer(message) },
        ...callsOf(message).map(({ name, args }) => ({ place: { gate: "tool_call", tool: name } as const, texts: textsOfArguments(args) })),
      ];
    case "tool_result":
      if (message.durationMs === undefined) return [];
      return [{ place: { gate: "tool_output", tool: message.toolName }, texts: [textOfOutput(message.content)] }];
    default:
      return [];
  }
}
