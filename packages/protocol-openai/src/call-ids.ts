/*
 * A caller that answers a call of its own tool sends the whole conversation again, but not where it took place. The id that it was given for the call
 * therefore names the session: the answer continues the run that waits, on whichever node.
 */

/** A call that waits, in the session that holds it. */
export interface WaitingCall {
  readonly session: string;
  readonly toolCallId: string;
}

const shape = /^call_([a-z0-9][a-z0-9_-]{0,63})\.(.+)$/s;

/** The id of a call for its caller. */
export const callIdOf = ({ session, toolCallId }: WaitingCall): string => `call_${session}.${toolCallId}`;

/** The call that such an id names; `undefined` for any other id. */
export function waitingCallOf(id: string): WaitingCall | undefined {
  const found = shape.exec(id);
  return found ? { session: found[1] as string, toolCallId: found[2] as string } : undefined;
}
