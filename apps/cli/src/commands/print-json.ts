import { once } from "node:events";
import { jsonLine } from "../terminal/json-line.ts";

/** Prints one event a line, in their order; waits when the reader is slow. Ends early when the reader is gone. */
export async function printJson(events: AsyncIterable<object>, output: NodeJS.WritableStream): Promise<void> {
  for await (const event of events) {
    if (!output.writable) continue;
    if (!output.write(`${jsonLine(event)}\n`)) await once(output, "drain").catch(() => {});
  }
}
