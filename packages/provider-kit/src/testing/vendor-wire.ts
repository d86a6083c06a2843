import type { WireAnswer } from "@loopwright/testing";

/** One event of a streamed answer, in the vendor's bytes. */
export interface WireFrame {
  /** With everything that frames it: `data: {...}\n\n`, or a JSON line with its line end. */
  readonly text: string;
  /** `text` or `arguments` where it has a piece of them; `end` on the event that completes the answer and on all after it. */
  readonly carries?: "text" | "arguments" | "end";
}

/** An error as the vendor would send it. */
export interface WireFailure {
  readonly status: number;
  readonly message: string;
  /** The prompt is too long: the vendor's own words and status for it. */
  readonly overflow: boolean;
  /** A wait that is named in the body, in the vendor's form. Ignored for a vendor without such a form: capability `body-waits`. */
  readonly waitMs?: number;
}

/** Encodes the provider kit's answers and errors in one vendor's format. Pure: written from the vendor's documentation, not from the adapter. */
export interface VendorWire {
  /** Content type of a streamed answer. */
  readonly contentType: string;
  /** The events of a streamed answer. At least one `end`. A first event without content is welcome. */
  readonly frames: (answer: WireAnswer) => readonly WireFrame[];
  /** The JSON body of an unstreamed answer; left out where the vendor or the adapter has none. */
  readonly whole?: (answer: WireAnswer) => unknown;
  /** Whether a request asks for the unstreamed form. Default: the body's `stream` is not true. */
  readonly isWhole?: (request: { readonly path: string; readonly body: unknown }) => boolean;
  /** Status and JSON body of an HTTP error. */
  readonly failure: (failure: WireFailure) => { readonly status: number; readonly body: unknown };
  /** The event of an error inside a stream. */
  readonly errorFrame: (message: string) => string;
  /** Trailers behind the body of a streamed answer, where the vendor sends some: of a good one, or of one that failed with this message. Capability `trailers`. */
  readonly trailers?: (answer: WireAnswer, errorText: string | undefined) => Readonly<Record<string, string>>;
  /** An event of broken JSON. Default: `data: {"oops\n\n`, or the bare line where the content type is not `text/event-stream`. */
  readonly garbageFrame?: string;
}
