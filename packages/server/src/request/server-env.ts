import type { OpenSink } from "../stream/event-sink.ts";

/** The connection of a request, as its adapter knows it. */
export interface ServerEnv {
  /** Writes event streams itself. Default: a `ReadableStream`. */
  readonly openSink?: OpenSink;
  /** The address that the connection was made to, as a host with its port: requests may name it. */
  readonly localHost?: string;
  /**
   * The address of the other end of the connection, from the socket itself and never from a header. Without `authenticate` only loopback
   * addresses are let in: an adapter that passes one vouches that the request comes from this machine.
   */
  readonly remoteAddress?: string | undefined;
  /** The operator has opened the server to callers of other machines: without `authenticate` all callers are admitted and none is trusted. */
  readonly isExposed?: boolean;
}
