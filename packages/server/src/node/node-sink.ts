import type { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { EventSink, OpenSink } from "../stream/event-sink.ts";
import { SocketSink } from "./socket-sink.ts";

/** Opens sinks that write to the response. Bytes that were encoded once go to the sockets of all readers unchanged. */
export function openNodeSink(response: ServerResponse): OpenSink {
  return ({ status, headers }) => {
    response.writeHead(status, Object.fromEntries(headers));
    response.on("error", () => response.destroy()); // The other side is gone; `close` follows.
    const { socket } = response;
    socket?.setNoDelay(true);
    // A response that waits behind another response has no socket yet; a response of HTTP/1.0 has no chunks.
    const sink = socket && response.chunkedEncoding && !response.closed ? new SocketSink(response, socket) : createResponseSink(response);
    return { sink, response: RESPONSE_ALREADY_SENT };
  };
}

function createResponseSink(response: ServerResponse): EventSink {
  // A caller may disconnect before its response begins; no event follows then.
  let isOver = response.closed;
  response.once("close", () => {
    isOver = true;
  });
  if (!isOver) response.flushHeaders();
  return {
    write(bytes) {
      if (!isOver) response.write(bytes);
    },
    get queuedBytes() {
      return isOver ? 0 : response.writableLength;
    },
    onDrain(callback) {
      if (isOver || !response.writableNeedDrain) return callback();
      const once = (): void => {
        response.off("drain", once);
        response.off("close", once);
        callback();
      };
      response.on("drain", once);
      response.on("close", once);
    },
    onClose(callback) {
      if (isOver) callback();
      else response.once("close", callback);
    },
    end() {
      if (isOver) return;
      response.end();
    },
    destroy() {
      response.destroy();
    },
  };
}
