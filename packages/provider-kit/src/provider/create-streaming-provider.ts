import type { ModelCallIo, ModelProvider, ModelRequest, ToolSpec } from "@loopwright/core/ports";
import { modelTransport } from "../transport/model-transport.ts";
import { StreamedCall } from "./streamed-call.ts";
import type { Connected, StreamingVendor } from "./streaming-vendor.ts";

/**
 * A provider made of a vendor's pure parts. It owns what is the same for all: the first call connects, a failed connection is tried again with the next
 * call; an abort closes the connection, and so does leaving the stream early; an answer with the status of an error and trouble of the network
 * become AgentErrors; an answer in one piece is read as well as a stream; after the vendor's own end the rest of the body is read in the background, so
 * that its connection can be used again; bodies have bounds (`bodyLimits`), redirects are refused, and what a reused connection lost before an answer is
 * sent again (`modelTransport`).
 */
export function createStreamingProvider<Read, Event, Body>(vendor: StreamingVendor<Read, Event, Body>): ModelProvider {
  let connected: Promise<Connected<Body>> | undefined;
  const connect = (): Promise<Connected<Body>> => {
    // A failed attempt is not kept: the key may be there the next time.
    connected ??= connectTo(vendor).catch((error: unknown) => {
      connected = undefined;
      throw error;
    });
    return connected;
  };
  return {
    name: vendor.name,
    get defaultModel() {
      return vendor.defaultModel;
    },
    capabilities: (model) => vendor.capabilities(model),
    ...(vendor.checkTools ? { checkTools: (tools: readonly ToolSpec[]) => vendor.checkTools?.(tools) } : {}),
    stream: (request: ModelRequest, io: ModelCallIo) => new StreamedCall(vendor, { request, io, connect }),
  };
}

async function connectTo<Read, Event, Body>(vendor: StreamingVendor<Read, Event, Body>): Promise<Connected<Body>> {
  const connection = await vendor.connect();
  return { connection, fetch: modelTransport(vendor.transport, { provider: vendor.label, secrets: connection.secrets }) };
}
