import { AgentError } from "../errors.ts";
import type { FactDraft } from "../loop/fact.ts";
import { boundOf } from "../message/json-bytes.ts";
import { idPattern, isId, type SessionRef } from "../message/session-ref.ts";
import { type AppendRequest, appendLimits } from "../ports/session-log.ts";

/** A copy of the reference with its two ids alone. @throws AgentError INPUT_INVALID when one of the two is no id. */
export function checkedRef({ scope, session }: SessionRef): SessionRef {
  for (const id of [scope, session])
    if (!isId(id)) throw invalid(`\`${id.slice(0, 80)}\` is not an id.`, `An id matches ${idPattern.source}.`);
  return { scope, session };
}

/**
 * The facts of a batch as JSON, each with the number that it gets if the batch is written.
 * @throws AgentError INPUT_INVALID when the batch is over a limit of `appendLimits`, empty, or no JSON.
 */
export function factTexts({ facts, expectedSeq }: Pick<AppendRequest, "facts" | "expectedSeq">): readonly string[] {
  checkCount(facts);
  const texts = facts.map((draft, at) => textOf(draft, expectedSeq + at + 1));
  checkSizes(texts);
  return texts;
}

/** Refuses the same batches as `factTexts`, without making the texts of a small batch. @throws AgentError INPUT_INVALID */
export function checkBatch({ facts, expectedSeq }: Pick<AppendRequest, "facts" | "expectedSeq">): void {
  checkCount(facts);
  let bytes = 0;
  for (const draft of facts) bytes += boundOf(draft) + numberBytes;
  if (bytes > appendLimits.factBytes) factTexts({ facts, expectedSeq });
}

/** The most bytes that the `seq` of a fact adds. */
const numberBytes = 32;

function checkCount(facts: readonly FactDraft[]): void {
  if (facts.length === 0 || facts.length > appendLimits.facts)
    throw invalid(`The batch has ${facts.length} facts; 1 to ${appendLimits.facts} are allowed.`);
}

function textOf(draft: FactDraft, seq: number): string {
  const isNumbered = "seq" in draft && draft.seq === seq;
  try {
    return JSON.stringify(isNumbered ? draft : { ...draft, seq });
  } catch {
    throw invalid(`A fact of type \`${draft.type}\` is not a JSON value.`);
  }
}

function checkSizes(texts: readonly string[]): void {
  let units = 0;
  for (const text of texts) units += text.length;
  // UTF-8 has at most three bytes per UTF-16 unit: most batches need no counting.
  if (units * 3 <= appendLimits.factBytes) return;
  const encoder = new TextEncoder();
  let batchBytes = 0;
  for (const text of texts) {
    const bytes = encoder.encode(text).length;
    batchBytes += bytes;
    if (bytes > appendLimits.factBytes) throw invalid(`A fact has ${bytes} bytes; at most ${appendLimits.factBytes} are allowed.`);
  }
  if (batchBytes > appendLimits.batchBytes)
    throw invalid(`The batch has ${batchBytes} bytes; at most ${appendLimits.batchBytes} are allowed.`);
}

function invalid(message: string, fix?: string): AgentError {
  return new AgentError("INPUT_INVALID", { message, fix });
}
