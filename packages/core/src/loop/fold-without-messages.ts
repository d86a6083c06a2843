/*
 * Owns: a state without the content of its messages, for readers that only derive events from a log.
 * Why: a fold of a whole log has the whole conversation in memory, and each reader that catches up from the log has a fold of its own.
 */
import { replaceFrom } from "./append-list.ts";
import type { Entry, KnownInput, State } from "./state.ts";

const nothing: Entry["message"] = { role: "notice", text: "" };

const leanEntry = ({ summary: _, ...entry }: Entry): Entry => ({ ...entry, message: nothing });
const leanInput = ({ message: _, ...known }: KnownInput): KnownInput => known;

/**
 * Removes the messages from what the history and the known inputs of a state have more than `since`. Later facts still give the same events.
 * A waiting call keeps its message, because a later event contains it. The lists are changed in place, so no other state may share them.
 */
export function dropMessages(state: State, since: Pick<State, "history" | "known">): void {
  replaceFrom(state.history, since.history.length, leanEntry);
  replaceFrom(state.known, since.known.length, leanInput);
}
