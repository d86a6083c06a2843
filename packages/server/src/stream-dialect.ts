import type { Notification } from "@loopwright/core/ports";
import type { SessionEvent } from "@loopwright/core/protocol";

/** One frame of a dialect. */
export interface DialectFrame {
  /** The `event:` name: letters, digits, `_`, `-`, `.` and `:`. */
  readonly event: string;
  /** What `data:` holds, as JSON. */
  readonly data: { readonly [field: string]: unknown };
  /** True for a frame that a slow reader may miss, because a later frame contains it. Default false. */
  readonly isSpare?: boolean;
}

/** Translates the events of one stream, in order. It may keep a state between two calls. */
export interface DialectReader {
  /** The events of any session of the scope, as they are published. */
  events(sessionId: string, events: readonly SessionEvent[]): readonly DialectFrame[];
  notification(notification: Notification): readonly DialectFrame[];
}

/** What a dialect may ask the process. */
export interface DialectContext {
  /** The run that is open in a session of the caller's scope, if this process has the session loaded. */
  runOf(sessionId: string): string | undefined;
}

/** The stream of `GET /api/notifications` in events of a product's own: a client requests it by `?dialect=<name>`. */
export interface StreamDialect {
  /** `[a-z][a-z0-9_-]{0,63}`; no other dialect of the server has the same name. */
  readonly name: string;
  /** Called once for each stream. */
  open(context: DialectContext): DialectReader;
}

/** No line break: it would begin another frame. */
const eventName = /^[\w.:-]{1,128}$/;

/** The line that begins the frame. @throws TypeError for a name that no event can have */
export function headOf({ event }: DialectFrame): string {
  if (!eventName.test(event))
    throw new TypeError(`A dialect gave an event a name that it cannot have: ${JSON.stringify(event).slice(0, 80)}.`);
  return `event: ${event}\n`;
}
