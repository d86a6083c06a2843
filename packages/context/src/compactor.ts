/*
 * Owns: whether the older part of one session's history is compacted, and by which summary.
 * Does not own: which part that is (stretch), the record (core), the originals (the log has them).
 * Invariants
 *  C1 what is recorded makes the request strictly smaller;
 *  C2 one compaction for a call at most; one that would gain nothing is not tried again until the history has grown;
 *  C3 a model that cannot sum up costs no turn: the extract takes the place of its summary.
 */
import { isAgentError, type Usage } from "@loopwright/core";
import type { ContextCall, ContextCompaction, ContextPreparing } from "@loopwright/core/ports";
import type { CompactOptions } from "./context-options.ts";
import { extractOf } from "./extract.ts";
import { unitsOf, unitsPerToken } from "./sizes.ts";
import { type Stretch, stretchOf } from "./stretch.ts";
import { type SummaryWriter, writtenSummary } from "./summary.ts";

const extractUnitsMax = 3_000;
/** The share of the stretch that its extract may have. */
const extractShare = 0.2;
/** What a compaction must free at least, and how much the history must grow after one that could not, as shares of the room. */
const gainMin = 0.1;
/** After so many failures in a row the model is not asked again. */
const failuresMax = 2;
const summaryMs = 60_000;
const nothing: Usage = { input: 0, output: 0, source: "estimated" };

/** The request as it is without a compaction. */
export interface Compactable {
  /** Sizes of the messages as they are sent, by place. */
  readonly units: readonly number[];
  /** Their sum. */
  readonly left: number;
  /** For all messages. */
  readonly room: number;
  /** The size of the request beside its messages. */
  readonly beside: number;
  /** Messages were cut that a compaction would have spared. */
  readonly isTight: boolean;
  /** A person asked for it. */
  readonly isWanted: boolean;
}

interface Summary {
  readonly text: string;
  readonly writer?: Pick<SummaryWriter, "model"> & { readonly provider: string; readonly usage?: Usage };
}

export class Compactor {
  readonly #options: CompactOptions;
  #failures = 0;
  /** The size below which another try would gain nothing. */
  #stuckBelow = 0;

  constructor(options: CompactOptions) {
    this.#options = options;
  }

  /** Synchronous where no model is asked. */
  compacted(
    call: ContextCall,
    request: Compactable,
    io: ContextPreparing,
  ): ContextCompaction | undefined | Promise<ContextCompaction | undefined> {
    const { left, room: most, isTight } = request;
    const isFull = isTight || left > most * this.#options.at;
    if (!mustGain(request) && (!isFull || left < this.#stuckBelow)) return undefined;
    const room = Math.min(request.room, left);
    const { pin } = this.#options;
    const stretch = stretchOf(call.history, { units: request.units, room, pin });
    if (!stretch || !this.#gains(stretch, request, 0)) return this.#stuck(request);
    const writer = this.#writerFor(call);
    if (!writer || this.#failures >= failuresMax) return this.#recorded(stretch, request, extracted(stretch));
    return this.#asked(stretch, writer, io).then((summary) => this.#recorded(stretch, request, summary));
  }

  #writerFor({ provider, request }: ContextCall): SummaryWriter | undefined {
    const { summary } = this.#options;
    return (
      summary && {
        provider: summary.provider ?? provider,
        model: summary.model ?? summary.provider?.defaultModel ?? request.model,
        tokensMax: summary.tokensMax,
      }
    );
  }

  async #asked(stretch: Stretch, writer: SummaryWriter, { signal, logger, reserve }: ContextPreparing): Promise<Summary> {
    const { provider, model, tokensMax } = writer;
    try {
      const input = Math.ceil(stretch.units / unitsPerToken);
      const reserved = await reserve?.({ provider: provider.name, model, usage: { input, output: tokensMax, source: "estimated" } });
      // An account that has no room for a summary still gets its extract.
      if (reserve && !reserved) return extracted(stretch);
      const asked = AbortSignal.any([signal, AbortSignal.timeout(summaryMs)]);
      let hasBegun = false;
      const io = { signal: asked, onBegun: () => (hasBegun = true) };
      const { text, usage } = await writtenSummary(stretch.messages, writer, io).catch((error: unknown) => {
        // A vendor that refuses at once charges nothing.
        if (!hasBegun && !asked.aborted && isAgentError(error) && error.code !== "MODEL_TIMEOUT") reserved?.settle(nothing);
        throw error;
      });
      if (usage) reserved?.settle(usage);
      const spent = { provider: provider.name, model, ...(usage ? { usage } : {}) };
      this.#failures = text === "" ? this.#failures + 1 : 0;
      return { text: text === "" ? extracted(stretch).text : text, writer: spent };
    } catch (error) {
      signal.throwIfAborted();
      this.#failures++;
      logger.log("warn", "A model did not sum up a conversation; an extract takes the place of its summary.", {
        provider: provider.name,
        model,
        error: error instanceof Error ? error.message : String(error),
      });
      return extracted(stretch);
    }
  }

  #recorded(stretch: Stretch, request: Compactable, summary: Summary): ContextCompaction | undefined {
    const units = unitsOfSummary(summary.text);
    // A summary that is longer than what it sums up is paid for all the same: its usage is recorded with the extract.
    const text = this.#gains(stretch, request, units) ? summary.text : extracted(stretch).text;
    if (!this.#gains(stretch, request, unitsOfSummary(text))) return this.#stuck(request);
    const { from, to, pinned } = stretch;
    const [before, after] = [request.left, request.left - gainOf(stretch, unitsOfSummary(text))];
    return {
      from,
      to,
      summary: text,
      ...(pinned.length > 0 ? { pinned } : {}),
      ...summary.writer,
      tokensBefore: Math.ceil((before + request.beside) / unitsPerToken),
      tokensAfter: Math.ceil((after + request.beside) / unitsPerToken),
    };
  }

  #gains(stretch: Stretch, request: Compactable, summaryUnits: number): boolean {
    return gainOf(stretch, summaryUnits) >= (mustGain(request) ? unitsPerToken : Math.min(request.room, request.left) * gainMin);
  }

  #stuck({ left, room, isWanted }: Compactable): undefined {
    if (!isWanted) this.#stuckBelow = left + Math.min(room, left) * gainMin;
    return undefined;
  }
}

/** True where any gain will do: a person asked for it, or the request does not fit. */
const mustGain = ({ isWanted, left, room }: Compactable): boolean => isWanted || left > room;

const gainOf = ({ units, pinnedUnits }: Stretch, summaryUnits: number): number => units - pinnedUnits - summaryUnits;

const unitsOfSummary = (text: string): number => unitsOf({ role: "notice", text: `Summary of the conversation so far:\n${text}` });

function extracted({ messages, units }: Stretch): Summary {
  return { text: extractOf(messages, Math.min(extractUnitsMax, Math.floor(units * extractShare))) };
}
