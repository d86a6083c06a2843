/*
 * Owns: a state without the content of the messages that it holds, for readers that derive events from a log and show no state.
 * Why: a fold of a whole log holds the whole conversation, and each reader that catches up from the log has a fold of its own.
 */
import { replaceFrom } from "./append-list.ts";
import type { Entry, KnownInput, State } from "./state.ts";

const nothing: Entry["message"] = { role: "notice", text: "" };

const leanEntry = ({ summary: _, ...entry }: Entry): Entry => ({ ...entry, message: nothing });
const leanInput = ({ message: _, ...known }: KnownInput): KnownInput => known;

/**
 * Takes the messages out of the history and the known inputs of a state, from where `since` ends: the facts to come fold to the same events all the same.
 * A waiting call keeps its message, because a later event contains it. Writes into the lists: only for a state whose lists are not shared.
 */
export function dropMessages(state: State, since: Pick<State, "history" | "known">): void {
  replaceFrom(state.history, since.history.length, leanEntry);
  replaceFrom(state.known, since.known.length, leanInput);
}
