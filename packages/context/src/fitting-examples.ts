import type { Message } from "@loopwright/core";
import type { MessageSizes } from "@loopwright/core/ports";

/** The first examples that fit into the room, each from an input up to the next; the list itself if all fit. Their size. */
export function fittingExamples(
  examples: readonly Message[],
  room: number,
  sizes: Pick<MessageSizes, "sizeOf">,
): { readonly examples: readonly Message[]; readonly units: number } {
  let [units, kept, unitsOfKept] = [0, 0, 0];
  for (const [place, message] of examples.entries()) {
    units += sizes.sizeOf(message);
    if (units > room) break;
    const next = examples[place + 1];
    if (next && next.role !== "user") continue;
    [kept, unitsOfKept] = [place + 1, units];
  }
  return { examples: kept === examples.length ? examples : examples.slice(0, kept), units: unitsOfKept };
}
