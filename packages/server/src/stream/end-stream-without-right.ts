import { isAgentError } from "@loopwright/core";
import type { Clock } from "@loopwright/core/ports";
import type { EventSink } from "./event-sink.ts";
import { encodeFrames, plainFrame } from "./sse-frames.ts";
import type { StreamRight } from "./stream-registry.ts";

/** The last frame of a stream whose reader may not read it any more. */
export interface StreamEnded {
  readonly type: "stream_ended";
  /** The credentials have ended, or a check found that the reader may no longer read. */
  readonly reason: "credentials_expired" | "access_ended";
}

interface RightParts {
  readonly clock: Clock;
  /** How often the right is checked. */
  readonly checkMs: number;
}

/** The longest time that a timer can wait. */
const waitMaxMs = 2 ** 31 - 1;

/**
 * Ends the stream when the credentials of its reader end (the last check gives the time), and when a check finds that the reader may not read it any more.
 * A check without a verdict, because a service is down, is repeated once after `checkMs`; then the stream ends as well.
 */
export function watchRight(sink: EventSink, { expiresAt, checkAgain }: StreamRight, { clock, checkMs }: RightParts): void {
  let isOver = false;
  let unanswered = 0;
  const end = (reason: StreamEnded["reason"]): void => {
    if (isOver) return;
    sink.write(encodeFrames(plainFrame({ type: "stream_ended", reason } satisfies StreamEnded)));
    sink.end();
  };
  let cancelEnd = (): void => {};
  const endAt = (at: number | undefined): void => {
    cancelEnd();
    const leftMs = at === undefined ? waitMaxMs : at - clock.now();
    if (isOver || leftMs >= waitMaxMs) return;
    cancelEnd = clock.after(Math.max(0, leftMs), () => end("credentials_expired"), { idle: true });
  };
  const check = async (): Promise<void> => {
    try {
      endAt((await checkAgain()).expiresAt);
      unanswered = 0;
    } catch (error) {
      unanswered += 1;
      const isVerdict = !isAgentError(error) || !error.retryable;
      if (isVerdict || unanswered > 1) return end("access_ended");
    }
    if (!isOver) cancelCheck = clock.after(checkMs, () => void check(), { idle: true });
  };
  let cancelCheck = clock.after(checkMs, () => void check(), { idle: true });
  endAt(expiresAt);
  sink.onClose(() => {
    isOver = true;
    cancelCheck();
    cancelEnd();
  });
}
