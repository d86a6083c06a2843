import { type SessionView, type ViewMessage, versionsOf } from "@loopwright/client";
import type { MessageId } from "@loopwright/core/protocol";
import { citedClaimsIn } from "../citations/cited-report.ts";
import type { MessageRow } from "./conversation-row.ts";

/** The key of a message of the model: known before the message has an id. */
export function answerKey(runId: string, parent: string | null): string {
  return `${runId}/${parent}`;
}

const none: readonly ViewMessage[] = [];
const noVersions: readonly MessageId[] = [];

/**
 * The rows of the messages of the path: results lie in the row that asked for them. Rows of `before` with the same content are reused as
 * they are. Linear in the number of messages, so not to be called for each delta.
 */
export function messageRows(view: SessionView, before: readonly MessageRow[]): readonly MessageRow[] {
  const rows: MessageRow[] = [];
  let results: ViewMessage[] = [];
  let turns: ViewMessage[] = [];
  let question: ViewMessage | undefined;
  let report: ViewMessage | undefined;
  let shown: ViewMessage | undefined;

  view.path.forEach((entry, place) => {
    const { message } = entry;
    if (message.role === "tool_result") {
      // Its row was made when it was asked for; seeded results without a call are not shown.
      results.push(entry);
      if (citedClaimsIn(message.details)) report = entry;
      return;
    }
    const isAnswer = message.role === "assistant";
    const isContinued = isAnswer && turns.length > 0 && turns.at(-1)?.runId === entry.runId;
    if (isAnswer) {
      results = [];
      turns = isContinued ? [...turns, entry] : [entry];
    } else if (message.role === "user") {
      turns = [];
      question = entry;
    }
    const ends = isAnswer && endsAnswer(view, place);
    rows.push({
      kind: "message",
      key: isAnswer && entry.runId !== undefined ? answerKey(entry.runId, entry.parent) : entry.id,
      entry,
      versions: isAnswer ? (ends ? versionsOf(view, turns[0]?.id ?? entry.id) : noVersions) : versionsOf(view, entry.id),
      results: isAnswer ? results : none,
      isContinued,
      turns: ends ? turns : none,
      report: isAnswer ? ofRun(entry, report) : undefined,
      question: ends && question?.runId === entry.runId ? question : undefined,
      beginsDay: shown === undefined || dayOf(shown.at) !== dayOf(entry.at),
    });
    shown = entry;
  });
  return rows.map((row, place) => sameRow(before[place], row));
}

/** What stood before, where it is of the same run. */
const ofRun = ({ runId }: ViewMessage, before: ViewMessage | undefined): ViewMessage | undefined =>
  before?.runId === runId ? before : undefined;

/** True for the last message of the model before the user speaks, once no more of it can come. */
function endsAnswer({ path, run }: SessionView, place: number): boolean {
  const { runId } = path[place] ?? {};
  for (let i = place + 1; i < path.length; i++) {
    const next = path[i];
    if (next?.message.role === "user") return true;
    if (next?.message.role === "assistant") return next.runId !== runId;
  }
  return run === undefined || run.runId !== runId;
}

const dayOf = (at: number): string => new Date(at).toDateString();

function sameRow(before: MessageRow | undefined, now: MessageRow): MessageRow {
  return before !== undefined &&
    before.entry === now.entry &&
    before.key === now.key &&
    before.isContinued === now.isContinued &&
    before.question === now.question &&
    before.report === now.report &&
    before.beginsDay === now.beginsDay &&
    isSameList(before.versions, now.versions) &&
    isSameList(before.results, now.results) &&
    isSameList(before.turns, now.turns)
    ? before
    : now;
}

function isSameList<Item>(a: readonly Item[], b: readonly Item[]): boolean {
  return a.length === b.length && a.every((item, place) => item === b[place]);
}
