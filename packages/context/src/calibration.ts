import type { AssistantMessage, Message, Usage } from "@loopwright/core";
import { unitsPerToken } from "./sizes.ts";

/** Smaller requests are no measure: what the vendor adds by itself weighs too much in them. */
const unitsMin = 2_000;
/** Bounds of the correction: beyond them the vendor counted something else than what was sent. */
const bounds = { min: 0.7, max: 4 } as const;
/** A smaller change than this one is noise, and would move the cuts. */
const step = 0.05;
/** By how much more is counted after a request that was refused as too long. */
const refusedStep = 1.2;

/** Learns from the vendor's reports how many tokens a size really has. */
export class Calibration {
  #sent: { readonly messages: readonly Message[]; readonly length: number; readonly units: number; readonly model: string } | undefined;
  readonly #ratios = new Map<string, number>();

  /** The vendor's tokens for one that was estimated. 1: nothing is known yet. */
  ratioOf(model: string): number {
    return this.#ratios.get(model) ?? 1;
  }

  /** Notes what is sent: so many messages of the list, so many units with everything beside them. */
  sends(model: string, messages: readonly Message[], units: number): void {
    this.#sent = { model, messages, length: messages.length, units };
  }

  /** Reads the report on what was sent last, which came with the answer. */
  reads(messages: readonly Message[]): void {
    const sent = this.#sent;
    if (!sent || sent.messages !== messages || messages.length <= sent.length) return;
    this.#sent = undefined;
    const answer = messages[sent.length];
    if (answer?.role === "assistant") this.learns(sent.model, { answer, units: sent.units });
  }

  /** The vendor refused what was sent last: it has more tokens than the limit. */
  refused(model: string, limitTokens: number): void {
    const sent = this.#sent?.model === model ? this.#sent : undefined;
    this.#sent = undefined;
    const known = this.ratioOf(model) * refusedStep;
    const ratio = sent && Number.isFinite(limitTokens) ? Math.max(known, (limitTokens * unitsPerToken * refusedStep) / sent.units) : known;
    this.#ratios.set(model, Math.min(bounds.max, ratio));
  }

  /** Takes the report of an answer to a request of so many units. True: it changes what is known. */
  learns(model: string, { answer, units }: { readonly answer: AssistantMessage; readonly units: number }): boolean {
    const tokens = tokensRead(answer.usage);
    if (tokens === undefined || units < unitsMin) return false;
    const ratio = Math.min(bounds.max, Math.max(bounds.min, (tokens * unitsPerToken) / units));
    if (Math.abs(ratio - this.ratioOf(model)) <= step * this.ratioOf(model)) return false;
    this.#ratios.set(model, ratio);
    return true;
  }
}

/** Everything the vendor read for an answer; `undefined`: it did not report that. */
function tokensRead(usage: Usage | undefined): number | undefined {
  if (usage?.input === undefined || usage.source === "estimated") return undefined;
  return usage.input + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0);
}
