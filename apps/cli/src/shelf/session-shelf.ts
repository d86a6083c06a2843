import type { Failure, Message, MessageId, ScheduleFiring, ScheduleRequest, SessionSchedule, SessionSnapshot } from "@loopwright/core";
import type { SessionHit, SessionSummary } from "@loopwright/core/ports";
import type { SessionLogFile } from "@loopwright/replay";
import type { Question } from "../chat/question-lines.ts";

/** The messages of a session. */
export interface Transcript {
  /** The whole id. */
  readonly id: string;
  readonly title: string | undefined;
  /** Oldest first. */
  readonly messages: readonly { readonly id: MessageId; readonly message: Message }[];
  /** Its last run was cut off and waits to be continued. */
  readonly isInterrupted: boolean;
  /** Why its last run failed. Absent: it did not, or a run is open. */
  readonly failure?: Pick<Failure, "code" | "message"> | undefined;
  /** What waits for a person. */
  readonly pending: readonly Question[];
}

/** Why the last run of a session failed; `undefined` if it did not, or if another one is open. */
export const failureOfLastRun = ({ run, lastRun }: SessionSnapshot): Failure | undefined => (run ? undefined : lastRun?.failure);

/** The formats of an export. */
export type ExportFormat = "markdown" | "json";

/** Which messages a fork begins with: up to one of them, or those that people had seen at an event. Default: all that people see. */
export interface ForkRequest {
  readonly message?: MessageId;
  /** The number of an event. */
  readonly at?: number;
  readonly systemPrompt?: string;
  readonly title?: string;
}

/** Which sessions a list has. */
export interface WantedSessions {
  /** Its children. Absent: the sessions that are children of none. */
  readonly parent?: string;
  readonly agent?: string;
  readonly status?: SessionSummary["status"];
}

/** Some of the sessions. */
export interface ListedSessions {
  readonly sessions: readonly SessionSummary[];
  /** There are, or may be, more than these. */
  readonly more: boolean;
}

/** What a search found. */
export interface SearchedSessions {
  readonly hits: readonly SessionHit[];
  /** There may be more than these. */
  readonly more: boolean;
}

/** Sessions that can be looked at: of a store's file, or of a server. An id may be the beginning of one that no other shares. */
export interface SessionShelf {
  /** The latest change first, among the last 1,000. @throws AgentError SESSION_NOT_FOUND, INPUT_INVALID */
  list(limit: number, wanted?: WantedSessions): Promise<ListedSessions>;
  /** Those that hold all words, the best first. */
  search(words: string, limit: number): Promise<SearchedSessions>;
  /** @throws AgentError SESSION_NOT_FOUND, INPUT_INVALID where several ids begin so */
  read(id: string): Promise<Transcript>;
  /** Deletes it for good; gives its whole id. @throws AgentError SESSION_NOT_FOUND, SESSION_BUSY, INPUT_INVALID */
  remove(id: string): Promise<string>;
  /** Begins a session with the messages of another one; gives its id. @throws AgentError SESSION_NOT_FOUND, INPUT_INVALID */
  fork(id: string, options: ForkRequest): Promise<string>;
  /** The whole log. @throws AgentError SESSION_NOT_FOUND, INPUT_INVALID, CONFIG_INVALID for the log of a newer build, FORBIDDEN */
  log(id: string): Promise<SessionLogFile>;
  /** What people see as Markdown, or the whole session as JSON. @throws AgentError SESSION_NOT_FOUND, INPUT_INVALID */
  export(id: string, format: ExportFormat): Promise<string>;
  /** Sets a schedule of the session. @throws AgentError SESSION_NOT_FOUND, INPUT_INVALID */
  schedule(id: string, name: string, request: ScheduleRequest): Promise<SessionSchedule>;
  /** False if there is no schedule of this name. @throws AgentError SESSION_NOT_FOUND, INPUT_INVALID */
  unschedule(id: string, name: string): Promise<boolean>;
  /** The next one first. @throws AgentError SESSION_NOT_FOUND, INPUT_INVALID */
  schedules(id: string): Promise<readonly SessionSchedule[]>;
  /** Due times that have passed, the newest first. @throws AgentError SESSION_NOT_FOUND, INPUT_INVALID */
  firings(id: string): Promise<readonly ScheduleFiring[]>;
  /** The command that continues a session. */
  resumeCommand(id: string): string;
  close(): Promise<void>;
}
