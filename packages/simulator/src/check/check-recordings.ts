import type { DurableEvent } from "@loopwright/core";
import type { SimulatedClient } from "../people/simulated-client.ts";
import type { Claim } from "./finding.ts";

/** I3: every client received the events of the log, each once and in order, and no event that clients must not see. */
export function checkRecording(client: SimulatedClient, notified: readonly DurableEvent[], claim: Claim): void {
  const { name, recording } = client;
  for (const flaw of recording.flaws.slice(0, 3)) claim(false, "I3", () => `${name} ${flaw}`);
  const received = recording.durable;
  const differs = notified.findIndex((event, at) => !isSame(event, received[at]));
  claim(differs < 0, "I3", () => {
    const [should, was] = [notified[differs], received[differs]];
    return `${name} was notified ${place(was)} where the log has ${place(should)} (${received.length} of ${notified.length} events)`;
  });
  claim(
    received.length <= notified.length,
    "I3",
    () => `${name} was notified ${received.length - notified.length} events that the log does not have`,
  );
}

const place = (event: DurableEvent | undefined): string => (event ? `${event.seq}.${event.k} ${event.type}` : "nothing");

function isSame(event: DurableEvent, received: DurableEvent | undefined): boolean {
  if (!received || event.seq !== received.seq || event.k !== received.k || event.type !== received.type) return false;
  return JSON.stringify(event) === JSON.stringify(received);
}
