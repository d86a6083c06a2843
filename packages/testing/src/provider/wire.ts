import type { ModelProvider } from "@loopwright/core";

/** A tool call that the wire asks for. */
export interface WireCall {
  readonly id: string;
  readonly name: string;
  /** The JSON text of the arguments in the pieces in which it is sent; a wire that sends values joins and parses them. Empty: none at all. */
  readonly args: readonly string[];
}

/** A model's answer, in no vendor's format: the adapter's wire encodes it in its own. The blocks come in the order of the fields. */
export interface WireAnswer {
  readonly thinking?: { readonly pieces: readonly string[]; readonly signature?: string };
  /** The pieces of one block of text. */
  readonly text?: readonly string[];
  readonly calls?: readonly WireCall[];
  /** The pieces of several calls alternate, where the vendor's protocol allows it. */
  readonly interleaved?: boolean;
  /** `cacheRead` is apart from `input`, `reasoning` is a part of `output`. Absent: the wire reports no tokens. */
  readonly usage?: { readonly input: number; readonly cacheRead?: number; readonly output: number; readonly reasoning?: number };
  /** `refusal`: the vendor's filter or the model declined. */
  readonly stop: "stop" | "length" | "tool_calls" | "refusal";
}

/** Where an answer stops being played: after the event with the first piece of text or of arguments, after so many events, or before the event that completes it. */
export type WireStop = "text" | "arguments" | "before-end" | { readonly events: number };

/** What becomes of an answer at its stop. */
export type WireFate =
  /** The body ends cleanly. */
  | "end"
  /** The connection is cut. */
  | "cut"
  /** Nothing more comes until `release` is called or the client goes away. */
  | "hold"
  /** The vendor's error event, saying `wireErrorText`, then a clean end. */
  | "error"
  /** An event of broken JSON, then the rest. */
  | "garbage"
  /** The rest, then trailers behind the body that say the answer failed, with `wireErrorText`. Capability `trailers`. */
  | "trailer-error";

/** What the wire does at every request. */
export type WireScript =
  | {
      readonly type: "answer";
      readonly answer: WireAnswer;
      /** How the body is cut into pieces; `whole`: all that comes before a hold or a cut is one write. Default `event`. */
      readonly chunking?: "event" | "byte" | "whole";
      readonly stop?: { readonly at: WireStop; readonly fate: WireFate };
      /** The text of an error event. Default: `wireErrorText`. */
      readonly errorText?: string;
    }
  /** An HTTP error in the vendor's own shape. `overflow`: the vendor's way to say that the prompt is too long, whatever `status` says. */
  | {
      readonly type: "failure";
      readonly status: number;
      readonly message: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly overflow?: boolean;
      /** The body holds in the vendor's own format how long to wait. Capability `body-waits`. */
      readonly waitMs?: number;
    }
  /** An HTTP redirect with this status to `elsewhere`, with the key in the address. */
  | { readonly type: "redirect"; readonly status: number }
  /** These very bytes. */
  | { readonly type: "raw"; readonly status: number; readonly contentType: string; readonly body: string }
  /** `head`, then the letter x until the client goes away; far beyond any bound the body ends. Default `contentType`: that of a streamed answer. */
  | { readonly type: "flood"; readonly status: number; readonly contentType?: string; readonly head: string }
  /** The connection dies before the headers. */
  | { readonly type: "drop" }
  /** No headers until the client goes away. */
  | { readonly type: "silence" };

/** The text of a vendor's error event. */
export const wireErrorText = "The servers are busy today";

/** A request as the wire saw it. */
export interface WireRequest {
  /** With the query; without the host. */
  readonly path: string;
  /** Parsed JSON. */
  readonly body: unknown;
}

/** A provider and the wire it talks to. */
export interface ModelProviderSubject {
  readonly provider: ModelProvider;
  readonly model: string;
  /** A model of this provider that takes no images. Capability `text-only`. */
  readonly modelWithoutVision?: string;
  /** A model of this provider that does not reason. Capability `unthinking`. */
  readonly modelWithoutReasoning?: string;
  /** The key that the provider was given: in no error, ever. */
  readonly key: string;
  /** Oldest first. */
  readonly requests: readonly WireRequest[];
  /** Another server: what a redirect names. It must never get a call. */
  readonly elsewhere: { readonly origin: string; readonly requests: readonly WireRequest[] };
  /** How many events of the scripted answer come before the one that completes it. */
  readonly eventsBeforeEnd: number;
  /** How many connections the client has left before the answer was complete. */
  readonly hangUps: () => number;
  /** True once a request came and the wire has sent all it sends until it is released or left. */
  readonly isSilent: () => boolean;
  /** Continues an answer that is held. */
  readonly release: () => void;
  /** How long the wire may take to see something. Default 4,000 ms. */
  readonly patienceMs?: number;
  readonly close: () => Promise<void>;
}

/** Gives a fresh provider, and a fresh wire that plays the script at every request. Sends nothing by itself. */
export type MakeModelProvider = (script: WireScript) => Promise<ModelProviderSubject>;
