import type { OpenSink } from "../stream/event-sink.ts";

/** The connection of a request, as its adapter knows it. */
export interface ServerEnv {
  /** Given by an adapter that writes event streams itself. Default: a `ReadableStream`. */
  readonly openSink?: OpenSink;
  /** The local address of the connection, as `host:port`. Requests whose `Host` header names it are accepted. */
  readonly localHost?: string;
  /**
   * The address of the other end of the connection, from the socket itself and never from a header. Without `authenticate` only loopback
   * addresses are admitted: an adapter that passes one guarantees that the request comes from this machine.
   */
  readonly remoteAddress?: string | undefined;
  /** True if the operator has opened the server to callers of other machines: without `authenticate` all callers are admitted and none is trusted. */
  readonly isExposed?: boolean;
}
