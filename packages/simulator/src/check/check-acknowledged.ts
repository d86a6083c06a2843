import { type Fact, type FactOf, partsOf } from "@loopwright/core";
import type { Acknowledged, SimulatedClient } from "../people/simulated-client.ts";
import type { Claim } from "./finding.ts";
import type { LogModel } from "./log-model.ts";

/** I1: each acknowledged request is in the log once, at the acknowledged position, and in the order of the requests. */
export function checkAcknowledged(
  client: SimulatedClient,
  { facts, model, claim }: { facts: readonly Fact[]; model: LogModel; claim: Claim },
): void {
  const { name, acknowledged } = client;
  for (const one of acknowledged) checkOne(one, { facts, model, claim, name });
  for (const fact of facts) checkAnswered(fact, claim);
  const written = acknowledged.filter((one) => one.kind === "input");
  for (const later of written)
    for (const earlier of written)
      if (earlier.atMs <= later.askedAtMs)
        claim(
          earlier.seq < later.seq,
          "I1",
          () => `${name}: ${later.key} was sent after ${earlier.key} was acknowledged, and stands before it`,
        );
}

/** An answer or a decision names its call. */
function checkAnswered(fact: Fact, claim: Claim): void {
  if (fact.type !== "client.answered") return;
  const named = /^Answer to (\S+)\.(?: |$)/.exec(textOf(fact))?.[1] ?? fact.callKey;
  claim(named === fact.callKey, "I4", () => `the call ${fact.callKey} has the answer to ${named}`);
}

const textOf = ({ output }: FactOf<"client.answered">): string =>
  partsOf(output)
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("");

interface Scene {
  readonly facts: readonly Fact[];
  readonly model: LogModel;
  readonly claim: Claim;
  readonly name: string;
}

function checkOne(one: Acknowledged, { facts, model, claim, name }: Scene): void {
  switch (one.kind) {
    case "input": {
      const fact = model.inputs.find(({ idempotencyKey }) => idempotencyKey === one.key);
      claim(fact !== undefined, "I1", () => `${name}: the input ${one.key} was acknowledged and is not in the log`);
      claim(fact === undefined || fact.seq === one.seq, "I1", () => `${name}: ${one.key} stands at ${fact?.seq}, ${one.seq} was sent`);
      return;
    }
    case "answer": {
      const texts = facts.flatMap((fact) => (fact.type === "client.answered" && fact.callKey === one.callKey ? [textOf(fact)] : []));
      claim(
        texts.includes(one.text),
        "I1",
        () => `${name}: the answer to ${one.callKey} was acknowledged; the log has ${JSON.stringify(texts)}`,
      );
      return;
    }
    case "decision": {
      const decided = facts.filter((fact) => fact.type === "approval.decided" && fact.callKey === one.callKey);
      const isSo = decided.length === 1 && decided[0]?.type === "approval.decided" && decided[0].decision === one.decision;
      claim(
        isSo,
        "I1",
        () => `${name}: ${one.decision} of ${one.callKey} was acknowledged; the log has ${decided.length} decisions, or another`,
      );
      return;
    }
    case "abort": {
      const run = model.runs.get(one.runId);
      claim((run?.aborts.length ?? 0) > 0, "I1", () => `${name}: the abort of ${one.runId} was acknowledged and is not in the log`);
      return;
    }
    case "schedule": {
      const isSet = facts.some((fact) => fact.type === "schedule.set" && fact.schedule === one.name && fact.due === one.due);
      claim(isSet, "T3", () => `${name}: the schedule ${one.name} at ${one.due} was acknowledged and is not in the log`);
      return;
    }
    case "unschedule": {
      const isCleared = facts.some((fact) => fact.type === "schedule.cleared" && fact.schedule === one.name);
      claim(isCleared, "T3", () => `${name}: the end of the schedule ${one.name} was acknowledged and is not in the log`);
      return;
    }
    default:
      one satisfies never;
  }
}
