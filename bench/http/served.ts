/* What every server of a measurement can do, so that one load serves all. */

/** What a server received at its start. */
export interface ServeSettings {
  /** Of the model server, with the scenario, ending with `/v1`. Absent: the server speaks itself, at the pace that a request asks for. */
  readonly modelUrl?: string;
  /** Whether the model is called over the default transport instead of the global fetch. */
  readonly overNode?: boolean;
}

/** Listens on a free port of the loopback and gives its URL. */
export type Serve = (settings: ServeSettings) => Promise<string>;

/** How many deltas one request asks for, and the time between two of them. */
export interface Pace {
  readonly deltas: number;
  readonly gapMs: number;
}

/** The session that all watch. */
export const watchedSession = "bench";
export const eventsPath = `/api/sessions/${watchedSession}/events?from=now`;
export const messagesPath = `/api/sessions/${watchedSession}/messages`;
export const notificationsPath = "/api/notifications";

export const paceText = ({ deltas, gapMs }: Pace): string => `play ${deltas} deltas every ${gapMs} ms`;

/** @throws Error when the text asks for nothing. */
export function paceOf(text: string): Pace {
  const [, deltas, gapMs] = /play (\d+) deltas every (\d+) ms/.exec(text) ?? [];
  if (deltas === undefined || gapMs === undefined) throw new Error("The request names no pace.");
  return { deltas: Number(deltas), gapMs: Number(gapMs) };
}
