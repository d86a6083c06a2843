import type { Fact, FactOf, Hooks, HookVerdict, JsonObject, ParseVerdict, ReviewVerdict, Tool, Verdict } from "@loopwright/core";
import type { RecordedCourse } from "./recorded-course.ts";

type Call = { readonly callKey: string };

/**
 * The same hooks, which answer when the log has what their answer led to: what a process recorded while it waited for them comes first again. Where `parse`
 * or `review` changed what a model or a tool gave, the log has only the change, so that it is taken from there.
 */
export function pacedHooks(hooks: Hooks, course: RecordedCourse): Hooks {
  const { prepare, gate, run, parse, decide, review } = hooks;
  const { start } = run ?? {};
  return {
    ...hooks,
    ...(prepare
      ? {
          async prepare(context) {
            await untilNextIs(course, (fact) => isTurn(fact, context) || isCompaction(fact, context) || isWithoutCall(fact, context));
            return prepare.call(hooks, context);
          },
        }
      : {}),
    ...(gate
      ? {
          async gate(context) {
            await untilNextIs(course, (fact) => isAbout(fact, context.call));
            return gate.call(hooks, context);
          },
        }
      : {}),
    ...(parse
      ? {
          async parse(context) {
            const end = await untilEnd(course, (fact): fact is FactOf<"model.finished"> => isAnswer(fact, context));
            return recordedArguments(end, { hook: hooks.name, callKey: context.call.callKey }) ?? parse.call(hooks, context);
          },
        }
      : {}),
    ...(decide
      ? {
          async decide(context) {
            await untilEnd(course, (fact): fact is FactOf<"model.finished"> => isAnswer(fact, context));
            return decide.call(hooks, context);
          },
        }
      : {}),
    ...(review
      ? {
          async review(context) {
            const { callKey } = context.call;
            const end = await untilEnd(
              course,
              (fact): fact is FactOf<"tool.finished"> => fact.type === "tool.finished" && isAbout(fact, { callKey }),
            );
            return recordedReview(end, { hook: hooks.name, callKey }) ?? review.call(hooks, context);
          },
        }
      : {}),
    ...(run && start
      ? {
          run: {
            ...run,
            async start(context) {
              await untilNextIs(course, (fact) => fact.type === "run.started" && fact.runId === context.runId);
              return start.call(run, context);
            },
          },
        }
      : {}),
  };
}

/** A tool whose own approval is asked at the recorded place. */
export function pacedApproval({ approval }: Tool, course: RecordedCourse): Pick<Tool, "approval"> {
  if (typeof approval !== "function") return approval === undefined ? {} : { approval };
  return {
    async approval(args, context) {
      await untilNextIs(course, (fact) => isAbout(fact, context));
      return approval(args, context);
    },
  };
}

interface Asked extends Call {
  readonly hook: string;
}

function recordedArguments(end: FactOf<"model.finished"> | undefined, asked: Asked): ParseVerdict | undefined {
  const verdict = recordedVerdict(end, "parse", asked);
  const part = end?.message.content.find((each) => each.type === "tool_call" && each.callKey === asked.callKey);
  if (!verdict || part?.type !== "tool_call") return undefined;
  return { args: part.args, ...verdict };
}

function recordedReview(end: FactOf<"tool.finished"> | undefined, asked: Asked): ReviewVerdict | undefined {
  const verdict = recordedVerdict(end, "review", asked);
  const action = end?.verdicts?.find(({ point, hook }) => point === "review" && hook === asked.hook)?.action.split(", ");
  if (!end || !verdict || !action) return undefined;
  return {
    ...verdict,
    ...(action.includes("fail") ? { fail: true } : {}),
    ...(action.includes("output") ? { output: end.output } : {}),
    ...(action.includes("force") && end.force !== undefined ? { force: end.force } : {}),
    ...(action.includes("usage") && end.usage ? { usage: end.usage } : {}),
    ...(action.includes("cost") && end.cost ? { cost: end.cost } : {}),
  };
}

/** What every verdict has, where the log has one of the hook about the call. */
function recordedVerdict(
  end: Pick<FactOf<"tool.finished">, "verdicts" | "hookState"> | undefined,
  point: Verdict["point"],
  { hook, callKey }: Asked,
): HookVerdict | undefined {
  const found = end?.verdicts?.find((each) => each.point === point && each.hook === hook && each.callKey === callKey);
  const state = end?.hookState?.[hook];
  if (!found) return undefined;
  return { ...(found.reason === undefined ? {} : { reason: found.reason }), ...(isObject(state) ? { state } : {}) };
}

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);

type Turn = { readonly runId: string; readonly turn: number; readonly attempt: number };

const isTurn = (fact: Fact, { runId, turn, attempt }: Turn): boolean =>
  fact.type === "model.started" && fact.runId === runId && fact.turn === turn && fact.attempt === attempt;

/** What the context engine did for the turn, after the hooks. */
const isCompaction = (fact: Fact, { runId }: Turn): boolean =>
  (fact.type === "summary.started" || fact.type === "context.compacted") && fact.runId === runId;

/** The hooks stopped the run. */
const isWithoutCall = (fact: Fact, { runId }: Turn): boolean => fact.type === "run.finished" && fact.runId === runId;

function isAbout(fact: Fact, { callKey }: Call): boolean {
  if (fact.type === "client.requested") return fact.callKeys.includes(callKey);
  return fact.type !== "child.linked" && "callKey" in fact && fact.callKey === callKey;
}

const isAnswer = (fact: Fact, { runId, turn }: Omit<Turn, "attempt">): boolean =>
  fact.type === "model.finished" && fact.runId === runId && fact.turn === turn;

async function untilEnd<T extends Fact>(course: RecordedCourse, isWanted: (fact: Fact) => fact is T): Promise<T | undefined> {
  course.activity += 1;
  const end = course.ahead(isWanted);
  if (end) await course.led(end);
  return end;
}

async function untilNextIs(course: RecordedCourse, isWanted: (fact: Fact) => boolean): Promise<void> {
  course.activity += 1;
  const fact = course.ahead((each): each is Fact => isWanted(each));
  if (!fact) return new Promise<never>(() => {});
  // What an abort ended, its hook did not.
  const isAborted = fact.type === "run.finished" || (fact.type === "tool.finished" && fact.outcome === "aborted");
  await (isAborted ? course.reached(fact.seq) : course.led(fact));
}
