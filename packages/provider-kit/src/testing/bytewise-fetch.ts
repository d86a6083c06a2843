import type { Recording } from "./recording.ts";

/** A transport in this process that answers every request with the recording, one byte per read: no socket joins the bytes again, and none has to be paid for. */
export function bytewiseFetch({ response }: Recording): typeof fetch {
  const bytes = new TextEncoder().encode(response.body);
  return async () => {
    let at = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (at < bytes.length) controller.enqueue(bytes.subarray(at, ++at));
          else controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(body, { status: response.status, headers: { "content-type": response.headers["content-type"] ?? "" } });
  };
}
