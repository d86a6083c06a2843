/* What must be true of one log, whatever happened to the processes that wrote it. */
import type { Fact, FactOf } from "@loopwright/core";
import { answersOf, type Job, jobOfText } from "../world/job.ts";
import type { Acknowledged } from "../world/people/acknowledged.ts";
import type { Testimony } from "../world/testimony.ts";

/** What is known of one session from outside of it. */
export interface Evidence {
  readonly session: string;
  readonly facts: readonly Fact[];
  readonly acknowledged: readonly Acknowledged[];
  readonly testimonies: readonly Testimony[];
}

export interface LogVerdict {
  readonly flaws: readonly string[];
  readonly inputs: number;
  readonly lost: number;
  readonly doubled: number;
  /** Calls of `once` tools that were started more than once. */
  readonly doubleStarts: number;
  /** Calls of `once` tools that were started once and did not end with `ok`, and how many of them the log has as `interrupted` or `aborted`. */
  readonly inDoubt: number;
  readonly inDoubtReported: number;
}

const ofType = <T extends Fact["type"]>(facts: readonly Fact[], type: T): readonly FactOf<T>[] =>
  facts.filter((fact): fact is FactOf<T> => fact.type === type);

/** I1 to I5 and I9 of one session. */
export function checkLog(evidence: Evidence): LogVerdict {
  const { facts } = evidence;
  const flaws: string[] = [];
  facts.forEach(({ seq }, index) => {
    if (seq !== index + 1) flaws.push(`I2: place ${index + 1} of the log holds fact ${seq}`);
  });
  const inputs = checkInputs(evidence, flaws);
  checkEpochs(facts, flaws);
  checkAnswers(facts, flaws);
  return { flaws, ...inputs, ...checkTools(evidence, flaws) };
}

function checkInputs({ facts, acknowledged }: Evidence, flaws: string[]): Pick<LogVerdict, "inputs" | "lost" | "doubled"> {
  const byKey = new Map<string, number>();
  for (const { idempotencyKey } of ofType(facts, "input.accepted"))
    if (idempotencyKey !== undefined) byKey.set(idempotencyKey, (byKey.get(idempotencyKey) ?? 0) + 1);
  const inputs = acknowledged.filter(({ what }) => what === "input");
  const lost = inputs.filter(({ key }) => !byKey.has(key));
  const doubled = [...byKey].filter(([, count]) => count > 1);
  for (const { key } of lost) flaws.push(`I1: the input ${key} was acknowledged and is not in the log`);
  for (const [key, count] of doubled) flaws.push(`I1: the input ${key} is in the log ${count} times`);
  const answered = new Map<string, number>();
  for (const { callKey } of ofType(facts, "client.answered")) answered.set(callKey, (answered.get(callKey) ?? 0) + 1);
  for (const { callKeys = [] } of acknowledged.filter(({ what }) => what === "answer"))
    for (const callKey of callKeys)
      if (answered.get(callKey) !== 1) flaws.push(`I1: the answer of ${callKey} is in the log ${answered.get(callKey) ?? 0} times`);
  return { inputs: inputs.length, lost: lost.length, doubled: doubled.length };
}

/** No owner writes under an epoch after a newer one began. */
function checkEpochs(facts: readonly Fact[], flaws: string[]): void {
  let newest = 0;
  for (const { seq, epoch } of facts) {
    if (epoch === undefined) continue;
    if (epoch < newest) flaws.push(`I9: fact ${seq} was written under epoch ${epoch} after ${newest}`);
    newest = Math.max(newest, epoch);
  }
}

/** Each answer equals an answer of its job; an aborted or failed one may be a prefix. */
function checkAnswers(facts: readonly Fact[], flaws: string[]): void {
  const jobs = new Map<string, Job>();
  for (const { message } of ofType(facts, "input.accepted")) {
    const job = typeof message?.content === "string" ? jobOfText(message.content) : undefined;
    if (job) jobs.set(job.id, job);
  }
  for (const { seq, message, stopReason } of ofType(facts, "model.finished")) {
    const text = message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
    const job = jobs.get(text.slice(0, text.indexOf(".")));
    const whole = job ? answersOf(job) : [];
    const isCut = stopReason === "aborted" || stopReason === "error";
    if (text !== "" && !(isCut ? whole.some((one) => one.startsWith(text)) : whole.includes(text)) && !(isCut && !job))
      flaws.push(`I3: the answer at ${seq} is none that the model gave`);
  }
}

function checkTools({ facts, testimonies }: Evidence, flaws: string[]): Pick<LogVerdict, "doubleStarts" | "inDoubt" | "inDoubtReported"> {
  const intents = new Map(ofType(facts, "tool.started").map((fact) => [fact.callKey, fact]));
  // The tool of such a call does nothing that the witness sees: its child does.
  const asking = new Set(ofType(facts, "child.linked").map(({ callKey }) => callKey));
  const ends = new Map<string, FactOf<"tool.finished">[]>();
  for (const end of ofType(facts, "tool.finished")) ends.set(end.callKey, [...(ends.get(end.callKey) ?? []), end]);
  let doubleStarts = 0;
  let inDoubt = 0;
  let inDoubtReported = 0;
  for (const [callKey, { replay }] of intents) {
    const seen = testimonies.filter((one) => one.callKey === callKey);
    const starts = seen.filter(({ phase }) => phase === "start").length;
    const seenEnds = seen.length - starts;
    const closing = ends.get(callKey) ?? [];
    const [end] = closing;
    if (closing.length !== 1) flaws.push(`I4: the call ${callKey} has ${closing.length} results`);
    if (replay === "once" && starts > 1) {
      doubleStarts += 1;
      flaws.push(`I5: the tool of ${callKey} runs once and was started ${starts} times`);
    }
    if (end?.outcome === "ok" && seenEnds < 1 && !asking.has(callKey))
      flaws.push(`I5: the log records that ${callKey} is done, and no tool recorded its end`);
    if (replay === "once" && starts === 1 && end && end.outcome !== "ok") {
      inDoubt += 1;
      if (end.outcome === "interrupted" || end.outcome === "aborted") inDoubtReported += 1;
      else flaws.push(`I5: the call ${callKey} is in doubt and is reported as ${end.outcome}`);
    }
  }
  for (const { callKey, phase } of testimonies)
    if (phase === "start" && !intents.has(callKey)) flaws.push(`I5: the tool of ${callKey} was started without an intent`);
  return { doubleStarts, inDoubt, inDoubtReported };
}
