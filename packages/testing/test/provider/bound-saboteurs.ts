import { honestParts, readLines } from "./honest-provider.ts";
import { type ModelProviderSaboteur, withParts } from "./provider-saboteurs.ts";

const whole = (body: ReadableStream<Uint8Array>): Promise<string> => new Response(body).text();

/** What they get wrong is a body that never ends. */
export const boundSaboteurs: readonly ModelProviderSaboteur[] = [
  withParts("endless-page", "reads the whole page of an error", { pageOf: whole }),
  withParts("endless-whole", "reads whatever comes in one piece", { textOf: whole }),
  withParts("endless-whole", "calls an answer that is too long worth another try", {
    textOf: (body) =>
      honestParts.textOf(body).catch((error: unknown) => {
        throw Object.assign(error as object, { retryable: true });
      }),
  }),
  withParts("endless-event", "waits for the end of every line", {
    lines: (body, signal) => readLines(body, signal, { charsMax: Infinity }),
  }),
];
