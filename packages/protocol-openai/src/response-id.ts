/*
 * A client that comes back to a response has its id alone. The id therefore names the run, and the fact of it that the response begins with: a run that
 * waits for results of the caller's tools is continued by another response.
 */

/** What a response is in a log. */
export interface LoggedResponse {
  readonly session: string;
  readonly runId: string;
  /** Its first fact. */
  readonly seq: number;
  /** The answer has a form, so it is the last message alone. */
  readonly isFormed?: boolean;
}

const shape = /^resp_([a-z0-9][a-z0-9_-]{0,63})\.([A-Za-z0-9_-]{1,64})\.([1-9][0-9]{0,14})(\.form)?$/;

/** The id of a response. */
export const responseIdOf = ({ session, runId, seq, isFormed = false }: LoggedResponse): string =>
  `resp_${session}.${runId}.${seq}${isFormed ? ".form" : ""}`;

/** The response that such an id names; `undefined` for any other id. */
export function loggedResponse(id: string): LoggedResponse | undefined {
  const found = shape.exec(id);
  if (!found) return undefined;
  const [, session = "", runId = "", seq, form] = found;
  return { session, runId, seq: Number(seq), isFormed: form !== undefined };
}
