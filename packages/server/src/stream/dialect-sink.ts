/*
 * Owns: the translation of the frames of one session into a dialect, for the stream of one request.
 * Does not own: which events are sent (feeds), how an event is translated (the dialect).
 * Invariants
 *  D1 a frame is translated once, when it is whole; frames that are no events of the session pass unchanged, but `session_end` is dropped;
 *  D2 no frame has an id: a reader that reconnects gets the run from its beginning, since the dialect's state is gone.
 */
import type { SessionEvent } from "@loopwright/core/protocol";
import type { DialectReader } from "../stream-dialect.ts";
import { headOf } from "../stream-dialect.ts";
import type { EventSink } from "./event-sink.ts";
import { encodeFrames, frameText } from "./sse-frames.ts";

/** The frames of the execution that pass unchanged: its beginning, its outcome, an early end. `session_end` is dropped: the dialect has had its messages. */
const kept: ReadonlySet<string> = new Set(["session_start", "execute_complete", "stream_ended"]);
const dropped: ReadonlySet<string> = new Set(["session_end"]);

/** A sink that translates into the dialect, and writes to the given sink. */
export function dialectSink(sink: EventSink, sessionId: string, reader: DialectReader): EventSink {
  const decoder = new TextDecoder();
  let text = "";
  const translated = (frame: string): string => {
    const name = /^event: (.*)$/m.exec(frame)?.[1];
    const data = /^data: (.*)$/m.exec(frame)?.[1];
    if (name === undefined || data === undefined || kept.has(name)) return `${frame}\n\n`;
    if (dropped.has(name)) return "";
    const frames = reader.events(sessionId, [JSON.parse(data) as SessionEvent]);
    return frames.map((one) => [...frameText(headOf(one), one.data)].join("")).join("");
  };
  return {
    write(bytes) {
      text += decoder.decode(bytes, { stream: true });
      const frames = text.split("\n\n");
      text = frames.pop() ?? "";
      const out = frames.map(translated).join("");
      if (out !== "") sink.write(encodeFrames(out));
    },
    get queuedBytes() {
      return sink.queuedBytes;
    },
    onDrain: (callback) => sink.onDrain(callback),
    onClose: (callback) => sink.onClose(callback),
    end: () => sink.end(),
    destroy: () => sink.destroy(),
  };
}
