import type { OpenSink } from "../stream/event-sink.ts";

/** What an adapter tells of the platform that a request came through. */
export interface ServerEnv {
  /** Writes event streams itself. Default: a `ReadableStream`. */
  readonly openSink?: OpenSink;
  /** The address that the connection was made to, as a host with its port: requests may name it. */
  readonly localHost?: string;
  /** Others than this machine can reach the server: without `authenticate` nobody is trusted then. */
  readonly isExposed?: boolean;
}
