import { AgentError, refuseUnknownOptions } from "@loopwright/core";
import type { ModelProvider, ModelRequest } from "@loopwright/core/ports";
import type { Cassette, CassetteEntry } from "./cassette.ts";
import { requestDigest } from "./request-digest.ts";
import { createScrubber } from "./scrub.ts";

export interface ReplayOptions {
  /** `digest` (default): the next unplayed call that asked the same. `order`: the next call, whatever is asked. */
  readonly match?: "digest" | "order";
  /** Plays only the calls of this provider. Default: that of the first entry. */
  readonly provider?: string;
  /** The same as were given to `record`. */
  readonly secrets?: readonly string[];
}

/** Every option by name. */
const knownOptions: { readonly [Name in keyof ReplayOptions]-?: true } = {
  match: true,
  provider: true,
  secrets: true,
};

/**
 * A provider that gives the recorded answers and failures again, each once. Without network, pauses or keys.
 * @throws AgentError CONFIG_INVALID when the cassette holds no call of the provider; its stream throws the same code when no
 * recorded call fits the request.
 */
export function replay(cassette: Cassette, options: ReplayOptions = {}): ModelProvider {
  refuseUnknownOptions(options, knownOptions, "`replay`");
  const name = options.provider ?? cassette.entries[0]?.provider;
  const left = cassette.entries.filter(({ provider }) => provider === name);
  const [first] = left;
  if (first === undefined) {
    throw new AgentError("CONFIG_INVALID", {
      message: name === undefined ? "The cassette is empty." : `The cassette holds no call of provider \`${name}\`.`,
      fix: "Record the calls with `record`.",
    });
  }
  const scrubber = createScrubber(options.secrets);
  const total = left.length;
  const take = (request: ModelRequest): CassetteEntry => {
    const digest = options.match === "order" ? undefined : requestDigest(request, scrubber.text);
    const at = digest === undefined ? 0 : left.findIndex((entry) => entry.digest === digest);
    const [entry] = at < 0 ? [] : left.splice(at, 1);
    if (entry === undefined) throw nothingFits(first.provider, { total, left: left.length, digest });
    return entry;
  };
  return {
    name: first.provider,
    defaultModel: first.defaultModel,
    capabilities: () => first.capabilities,
    async *stream(request, { signal }) {
      signal.throwIfAborted();
      const entry = take(request);
      for (const batch of entry.batches) {
        signal.throwIfAborted();
        yield batch;
      }
      if (!entry.failure) return;
      const { code, ...failure } = entry.failure;
      throw new AgentError(code, failure);
    },
  };
}

function nothingFits(provider: string, counts: { total: number; left: number; digest: string | undefined }): AgentError {
  const { total, left, digest } = counts;
  const wanted = digest === undefined ? "is over" : `has no unplayed call for this request (digest ${digest})`;
  return new AgentError("CONFIG_INVALID", {
    message: `The cassette of provider \`${provider}\` ${wanted}: ${total - left} of ${total} calls were played.`,
    fix: 'Record the calls again, or replay with `match: "order"`.',
  });
}
