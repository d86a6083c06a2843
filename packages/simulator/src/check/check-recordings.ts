import type { DurableEvent } from "@loopwright/core";
import type { SimulatedClient } from "../people/simulated-client.ts";
import type { Claim } from "./finding.ts";

/** I3: every client received the events of the log, each once and in order, and no event that clients must not see. */
export function checkRecording(client: SimulatedClient, told: readonly DurableEvent[], claim: Claim): void {
  const { name, recording } = client;
  for (const flaw of recording.flaws.slice(0, 3)) claim(false, "I3", () => `${name} ${flaw}`);
  const heard = recording.durable;
  const differs = told.findIndex((event, at) => !isSame(event, heard[at]));
  claim(differs < 0, "I3", () => {
    const [should, was] = [told[differs], heard[differs]];
    return `${name} was told ${place(was)} where the log says ${place(should)} (${heard.length} of ${told.length} events)`;
  });
  claim(heard.length <= told.length, "I3", () => `${name} was told ${heard.length - told.length} events that the log does not have`);
}

const place = (event: DurableEvent | undefined): string => (event ? `${event.seq}.${event.k} ${event.type}` : "nothing");

function isSame(event: DurableEvent, heard: DurableEvent | undefined): boolean {
  if (!heard || event.seq !== heard.seq || event.k !== heard.k || event.type !== heard.type) return false;
  return JSON.stringify(event) === JSON.stringify(heard);
}
