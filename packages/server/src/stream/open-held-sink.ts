import type { OpenSink } from "./event-sink.ts";
import { streamHeaders } from "./stream-headers.ts";
import type { StreamPlace } from "./stream-registry.ts";

/** Opens the stream of a request in its place, which is given back where that fails. @throws AgentError STORE_UNAVAILABLE when the request was answered already */
export function openHeldSink(openSink: OpenSink, place: StreamPlace): ReturnType<OpenSink> {
  try {
    const opened = openSink({ status: 200, headers: streamHeaders() });
    place.hold(opened.sink);
    return opened;
  } catch (error) {
    place.release();
    throw error;
  }
}
