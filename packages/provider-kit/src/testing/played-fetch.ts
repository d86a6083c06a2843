import type { Recording } from "./recording.ts";

/** How a body ends that is played in this process. */
export type PlayedEnd = "whole" | "error";

/**
 * A transport in this process that answers every request with the recording's status and these pieces of a body, one per read. `error`: the
 * connection breaks after the last piece, with the error of undici; `whole`: the body ends there.
 */
export function playedFetch({ response }: Recording, pieces: readonly Uint8Array[], end: PlayedEnd = "whole"): typeof fetch {
  return async () => {
    let at = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          const piece = pieces[at++];
          if (piece) controller.enqueue(piece);
          else if (end === "whole") controller.close();
          else
            controller.error(
              new TypeError("terminated", { cause: Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" }) }),
            );
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(body, { status: response.status, headers: { "content-type": response.headers["content-type"] ?? "" } });
  };
}
