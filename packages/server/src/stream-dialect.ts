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

/** Translates what one stream carries, in order. It may keep a state between two calls. */
export interface DialectReader {
  /** The events of any session of the scope, as they are published. */
  events(sessionId: string, events: readonly SessionEvent[]): readonly DialectFrame[];
  notification(notification: Notification): readonly DialectFrame[];
}

/** What a dialect may ask of the process. */
export interface DialectContext {
  /** The run that is open in a session of the caller's scope, if this process has the session loaded. */
  runOf(sessionId: string): string | undefined;
}

/** The stream of `GET /api/notifications` in events of a product's own: a client requests it by `?dialect=<name>`. */
export interface StreamDialect {
  /** `[a-z][a-z0-9_-]{0,63}`, unlike that of any other dialect of the server. */
  readonly name: string;
  /** Called once for each stream. */
  open(context: DialectContext): DialectReader;
}

/** A line break in a name would begin a frame of its own. */
const eventName = /^[\w.:-]{1,128}$/;

/** The line that begins the frame. @throws TypeError for a name that no event can have */
export function headOf({ event }: DialectFrame): string {
  if (!eventName.test(event))
    throw new TypeError(`A dialect gave an event a name that it cannot have: ${JSON.stringify(event).slice(0, 80)}.`);
  return `event: ${event}\n`;
}
