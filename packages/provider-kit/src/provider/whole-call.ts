import { type AgentError, isAgentError } from "@loopwright/core";
import { readWholeJson } from "../body/read-whole.ts";
import { errorFromFetch } from "../errors/error-from-fetch.ts";
import { modelTransport } from "../transport/model-transport.ts";
import { CallSignal } from "./call-signal.ts";
import type { VendorCall, VendorConnection, VendorFailure } from "./streaming-vendor.ts";

/** One request with an answer in one piece, ready to be sent. */
export type WholeCall = Pick<VendorCall<string>, "body" | "signal" | "fetch">;

/** What an instance makes once, at its first call. */
export interface WholeConnection extends Pick<VendorConnection<string>, "secrets" | "explain"> {
  /** Sends the request and gives the vendor's raw answer, whatever its status. */
  send(call: WholeCall): Promise<Response>;
}

/** What all vendors have whose answers come in one piece. Properties are read when they are needed. */
export interface WholeVendor {
  readonly name: string;
  /** The vendor's name for people. */
  readonly label: string;
  readonly model: string;
  /** The transport that the user passed. Default: that of `modelTransport`. */
  readonly transport?: typeof fetch | undefined;
  /** Called with the first call, and again after it has failed. @throws AgentError MODEL_KEY_MISSING, CONFIG_INVALID */
  connect(): WholeConnection | Promise<WholeConnection>;
  failureOf(failure: VendorFailure): AgentError;
}

interface Connected {
  readonly connection: WholeConnection;
  readonly fetch: typeof fetch;
}

/** One request and what to make of its answer. */
export interface WholeRequest<Answer> {
  readonly body: unknown;
  readonly io: { readonly signal: AbortSignal };
  /** Reads the answer in JSON. @throws AgentError MODEL_PROTOCOL */
  answerOf(answer: unknown): Answer;
}

export type SendWhole = <Answer>(request: WholeRequest<Answer>) => Promise<Answer>;

/**
 * Sends requests with an answer in one piece. The first one connects, a failed connection is tried again with the next one; an abort closes the
 * connection; an answer with the status of an error and trouble of the network become AgentErrors; bodies have bounds.
 */
export function wholeCalls(vendor: WholeVendor): SendWhole {
  let connected: Promise<Connected> | undefined;
  const connect = (): Promise<Connected> => {
    connected ??= connectTo(vendor).catch((error: unknown) => {
      connected = undefined;
      throw error;
    });
    return connected;
  };
  return async ({ body, io, answerOf }) => {
    const text = JSON.stringify(body);
    const { connection, fetch } = await connect();
    io.signal.throwIfAborted();
    const call = new CallSignal(io.signal);
    try {
      const response = await connection.send({ body: text, signal: call.signal, fetch });
      if (!response.ok) {
        const { status, headers } = response;
        throw vendor.failureOf({ status, headers, text: await response.text(), secrets: connection.secrets });
      }
      const answer = answerOf(await readWholeJson(response));
      call.release();
      return answer;
    } catch (error) {
      call.abort();
      const made = errorFromFetch(error, { provider: vendor.label, signal: io.signal });
      throw isAgentError(made) && connection.explain ? connection.explain(made) : made;
    }
  };
}

async function connectTo(vendor: WholeVendor): Promise<Connected> {
  const connection = await vendor.connect();
  return { connection, fetch: modelTransport(vendor.transport, { provider: vendor.label, secrets: connection.secrets }) };
}
