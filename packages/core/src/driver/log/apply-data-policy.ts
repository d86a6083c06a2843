/*
 * Owns: the stored form of facts with content that the agent's data policy leaves out: placeholders replace that content.
 * Does not own: the policy (agent), the work with the whole facts (the driver).
 * Invariants
 *  N1 a fact keeps its place, its type and the number of its parts, so that its events keep their cursors;
 *  N2 what is needed outside of this process stays: calls of client tools, and the arguments that a person is asked about.
 */
import type { Agent } from "../../agent/agent.ts";
import { type DataPolicy, storesTool } from "../../agent/data-policy.ts";
import type { Fact, FactOf } from "../../loop/fact.ts";
import type { Call, State } from "../../loop/state.ts";
import type { AssistantPart, ToolCallPart } from "../../message/content.ts";

const notStored = (what: string): string => `[${what} was not stored.]`;

/** The facts for the store; the same list if all facts are stored whole. `states`: the states before and after the facts. */
export function storedFacts({ data: policy }: Pick<Agent, "data">, facts: readonly Fact[], states: readonly State[]): readonly Fact[] {
  if (!policy) return facts;
  const calls = states.flatMap(({ run }) => run?.calls ?? []);
  const stored = facts.map((fact) => storedFact(policy, fact, calls));
  return stored.every((fact, at) => fact === facts[at]) ? facts : stored;
}

/** The facts without the summaries of compactions, which repeat content that is not stored. */
export function withoutSummaries(facts: readonly Fact[]): readonly Fact[] {
  if (!facts.some(({ type }) => type === "context.compacted")) return facts;
  return facts.map((fact) => (fact.type === "context.compacted" ? { ...fact, summary: notStored("The summary of this part") } : fact));
}

function storedFact(policy: DataPolicy, fact: Fact, calls: readonly Call[]): Fact {
  switch (fact.type) {
    case "model.finished":
      return storedAnswer(policy, fact);
    case "tool.started":
      return fact.args && !storesTool(policy.calls, toolOf(calls, fact.callKey)) ? without(fact, "args") : fact;
    case "tool.finished":
      return storesTool(policy.results, toolOf(calls, fact.callKey)) ? fact : storedResult(fact);
    case "approval.requested":
      return fact.args ? fact : withArguments(policy, fact, calls);
    default:
      return fact;
  }
}

function storedAnswer(policy: DataPolicy, fact: FactOf<"model.finished">): Fact {
  const ofClient = new Set(fact.calls.filter(({ route }) => route === "client").map(({ callKey }) => callKey));
  const part = (one: AssistantPart): AssistantPart => {
    if (one.type !== "tool_call") return policy.text === false ? placeholderOf(one) : one;
    return storesTool(policy.calls, one.name) || ofClient.has(one.callKey) ? one : emptied(one);
  };
  const content = fact.message.content.map(part);
  return content.every((one, at) => one === fact.message.content[at]) ? fact : { ...fact, message: { ...fact.message, content } };
}

/** Text and images become a text that names the gap. All other parts become empty thinking, which is sent to no vendor. */
const placeholderOf = (part: Exclude<AssistantPart, ToolCallPart>): AssistantPart =>
  part.type === "text" || part.type === "image" ? { type: "text", text: notStored("This text") } : { type: "thinking", text: "" };

function emptied({ type, callKey, id, name, problem }: ToolCallPart): ToolCallPart {
  return { type, callKey, id, name, args: {}, notStored: true, ...(problem === undefined ? {} : { problem }) };
}

function storedResult(fact: FactOf<"tool.finished">): Fact {
  const { details: _, summary: __, ...rest } = fact;
  const text = notStored("This result");
  return { ...rest, output: [{ type: "text", text }], ...(fact.failure ? { failure: { ...fact.failure, message: text } } : {}) };
}

/** The arguments of a call that needs approval are stored, so that the approved call can run after a restart. */
function withArguments(policy: DataPolicy, fact: FactOf<"approval.requested">, calls: readonly Call[]): Fact {
  const call = calls.find(({ part }) => part.callKey === fact.callKey);
  return call && !storesTool(policy.calls, call.part.name) ? { ...fact, args: call.args ?? call.part.args } : fact;
}

const toolOf = (calls: readonly Call[], callKey: string): string | undefined =>
  calls.find(({ part }) => part.callKey === callKey)?.part.name;

function without<F extends Fact, Name extends keyof F>(fact: F, name: Name): Fact {
  const { [name]: _, ...rest } = fact;
  return rest as unknown as Fact;
}
