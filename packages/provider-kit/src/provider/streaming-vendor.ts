import type { AgentError } from "@loopwright/core";
import type { ModelCapabilities, ModelRequest, ToolSpec } from "@loopwright/core/ports";
import type { Framing } from "../body/framing.ts";
import type { ChunkDecoder } from "../decoder/chunk-decoder.ts";

/** One request, ready to be sent. */
export interface VendorCall<Body> {
  readonly request: ModelRequest;
  /** What `bodyOf` made of the request. */
  readonly body: Body;
  /** False: the answer is wanted in one piece. */
  readonly streaming: boolean;
  /** The call's own signal: an SDK may leave listeners on it. */
  readonly signal: AbortSignal;
  /** The transport of this provider, with its bounds; everything is sent through it. */
  readonly fetch: typeof fetch;
}

/** What an instance makes once, at its first call: it reads the key and loads the SDK. */
export interface VendorConnection<Body> {
  /** What no error may show: keys, passwords. */
  readonly secrets: readonly string[];
  /** Sends the request and gives the vendor's raw answer, whatever its status. */
  send(call: VendorCall<Body>): Promise<Response>;
  /** A better error where the vendor's own circumstances explain one of the network. Default: the error as it is. */
  explain?(error: AgentError): AgentError;
}

/** An answer with the status of an error. */
export interface VendorFailure {
  readonly status: number;
  readonly headers: Headers;
  /** At most `bodyLimits.errorBytes` of the body. */
  readonly text: string;
  readonly secrets: readonly string[];
}

/** What a decoder may need to know of its call. */
export interface DecoderContext {
  readonly secrets: readonly string[];
  /** The answer; its body belongs to the shell. */
  readonly response: Response;
}

/**
 * A vendor as its pure parts: request, decoder, errors. Properties are read when they are needed, so that a getter may look at the environment.
 */
export interface StreamingVendor<Read, Event, Body> {
  /** Name on facts and messages, for example `anthropic`. */
  readonly name: string;
  /** The vendor's name for people, for example `Anthropic`. */
  readonly label: string;
  readonly defaultModel: string;
  /** The transport that the user passed. Default: that of `modelTransport`. */
  readonly transport?: typeof fetch | undefined;
  readonly framing: Framing<Read>;
  capabilities(model: string): ModelCapabilities;
  checkTools?(tools: readonly ToolSpec[]): void;
  /** The request body. Called before a key is asked for. @throws AgentError MODEL_UNSUPPORTED for what the vendor cannot do. */
  bodyOf(request: ModelRequest, can: { readonly capabilities: ModelCapabilities; readonly streaming: boolean }): Body;
  /** Called with the first call, and again after it has failed. @throws AgentError MODEL_KEY_MISSING, CONFIG_INVALID */
  connect(): VendorConnection<Body> | Promise<VendorConnection<Body>>;
  createDecoder(context: DecoderContext): ChunkDecoder<Event>;
  /** An event out of one server-sent event or line. @throws SyntaxError for what is not JSON. */
  parse(read: Read): Event;
  failureOf(failure: VendorFailure): AgentError;
}

/** A connection and the transport that its calls go through. */
export interface Connected<Body> {
  readonly connection: VendorConnection<Body>;
  readonly fetch: typeof fetch;
}
