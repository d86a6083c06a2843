import type { ServerResponse } from "node:http";

/** Events of a stream, each as JSON; a pair has a name. */
export function eventStream(events: readonly (object | string | readonly [name: string, data: object])[]): string {
  return events
    .map((event) => {
      if (typeof event === "string") return `data: ${event}\n\n`;
      if (Array.isArray(event)) return `event: ${event[0]}\ndata: ${JSON.stringify(event[1])}\n\n`;
      return `data: ${JSON.stringify(event)}\n\n`;
    })
    .join("");
}

/** Answers with a whole stream. */
export function streaming(...events: Parameters<typeof eventStream>[0]): (response: ServerResponse) => void {
  return (response) => void response.writeHead(200, { "content-type": "text/event-stream" }).end(eventStream(events));
}

/** Answers with JSON. */
export function json(status: number, body: unknown, headers: Record<string, string> = {}): (response: ServerResponse) => void {
  return (response) => void response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}
