import type { SourceFlaw } from "./source-flaws.ts";

/** Flaws of agents that use agents. */
export const treeFlaws: readonly SourceFlaw[] = [
  {
    name: "a run that is read alone leaves out the end of a child of an earlier run",
    isOfTree: true,
    file: "loop/fold-one-run.ts",
    good: 'if (fact.type !== "child.finished" ||',
    bad: "if (true ||",
  },
  {
    name: "a process starts another child than the one before it",
    isOfTree: true,
    file: "driver/children/child-start-checks.ts",
    good: "JSON.stringify([session, runId, callKey ?? null, key])",
    bad: "JSON.stringify([session, runId, callKey ?? null, key, crypto.randomUUID()])",
  },
  {
    name: "a child is given up when the store does not confirm what it is asked",
    isOfTree: true,
    file: "driver/children/retry-until-confirmed.ts",
    good: 'if (!isAgentError(error, "STORE_UNAVAILABLE") || !isWanted()) throw error;',
    bad: 'if (isWanted() || !isAgentError(error, "STORE_UNAVAILABLE")) throw error;',
  },
  {
    name: "the end of a child in the background is reported to a parent as it was",
    isOfTree: true,
    file: "driver/children/background-children.ts",
    good: "await this.#surely(() => this.#parent.offer(() => []));",
    bad: "",
  },
  {
    name: "a child ends before what it has in the background is read",
    isOfTree: true,
    file: "loop/children/background-children.ts",
    good: "return endOf({ ended }, own) !== undefined && !background && !run && inputs.length === 0;",
    bad: "return endOf({ ended }, own) !== undefined;",
  },
  {
    name: "what a child spent is counted twice",
    isOfTree: true,
    file: "driver/children/child-facts.ts",
    good: "return endsKeyed(state, { ...ended, seq: 0, at: 0, v: 2 }) ? [ended] : [];",
    bad: "return endsKeyed(state, { ...ended, seq: 0, at: 0, v: 2 }) ? [{ ...ended, ...(ended.usage ? { usage: { ...ended.usage, input: 2 * ended.usage.input } } : {}) }] : [];",
  },
];
