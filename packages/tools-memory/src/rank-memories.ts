import { AgentError } from "@loopwright/core";
import { searchWords } from "@loopwright/core/stores";
import { type Memory, memoryLimits } from "./memory-store.ts";

/** The words of a query that count, each once, without case and accents. */
export function queryWords(query: string): readonly string[] {
  return [...new Set(searchWords(query))].slice(0, memoryLimits.queryWordsMax);
}

/** The facts that hold at least one of the words: first those that hold more of them, then the newer. */
export function rankMemories(memories: Iterable<Memory>, words: readonly string[], countMax: number): readonly Memory[] {
  const scored: { readonly memory: Memory; readonly score: number }[] = [];
  for (const memory of memories) {
    const held = searchWords(memory.text);
    const score = words.filter((word) => held.some((own) => own.startsWith(word))).length;
    if (score > 0) scored.push({ memory, score });
  }
  return scored
    .sort((a, b) => b.score - a.score || newestFirst(a.memory, b.memory))
    .slice(0, countMax)
    .map(({ memory }) => memory);
}

/** Of the same moment by their ids, so that the order is always the same. */
export function newestFirst(a: Memory, b: Memory): number {
  return b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1);
}

/** The error of an owner that has as many facts as there may be. */
export function memoryFull(): AgentError {
  const message = `The memory of this user holds ${memoryLimits.perOwnerMax} facts already.`;
  return new AgentError("STORE_FULL", { message, fix: "Delete facts that are no longer needed." });
}
