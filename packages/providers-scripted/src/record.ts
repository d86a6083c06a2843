import { failureOf, type Json, type ModelChunk, refuseUnknownOptions } from "@loopwright/core";
import type { ModelProvider, ModelRequest } from "@loopwright/core/ports";
import type { CassetteEntry } from "./cassette.ts";
import { requestDigest } from "./request-digest.ts";
import { createScrubber, type Scrubber } from "./scrub.ts";

export interface RecordOptions {
  /** Secrets to take out verbatim, beside everything that looks like a key. Give `replay` the same. */
  readonly secrets?: readonly string[];
}

/** Every option by name. */
const knownOptions: { readonly [Name in keyof RecordOptions]-?: true } = {
  secrets: true,
};

/**
 * The provider itself, which also passes every call that ended, well or badly, to `sink`. Calls that were aborted or whose reader left early are
 * not recorded, because they are incomplete. The caller's chunks are unchanged; only the record is scrubbed.
 */
export function record(provider: ModelProvider, sink: (entry: CassetteEntry) => void, options: RecordOptions = {}): ModelProvider {
  refuseUnknownOptions(options, knownOptions, "`record`");
  const scrubber = createScrubber(options.secrets);
  return {
    name: provider.name,
    defaultModel: provider.defaultModel,
    capabilities: (model) => provider.capabilities(model),
    async *stream(request, io) {
      const batches: (readonly ModelChunk[])[] = [];
      let failed: { error: unknown } | undefined;
      try {
        for await (const batch of provider.stream(request, io)) {
          batches.push(batch);
          yield batch;
        }
      } catch (error) {
        if (io.signal.aborted) throw error;
        failed = { error };
      }
      sink(entryOf(provider, request, { batches, failed, scrubber }));
      if (failed) throw failed.error;
    },
  };
}

function entryOf(
  provider: ModelProvider,
  request: ModelRequest,
  call: { batches: readonly (readonly ModelChunk[])[]; failed: { error: unknown } | undefined; scrubber: Scrubber },
): CassetteEntry {
  const failure = call.failed ? failureOf(call.failed.error) : undefined;
  return {
    provider: provider.name,
    defaultModel: provider.defaultModel,
    capabilities: provider.capabilities(request.model),
    digest: requestDigest(request, call.scrubber.text),
    request: call.scrubber.json(JSON.parse(JSON.stringify(request)) as Json),
    batches: call.scrubber.batches(call.batches),
    ...(failure ? { failure: { ...failure, message: call.scrubber.text(failure.message) } } : {}),
  };
}
