import { seededRandom } from "@loopwright/core/memory";
import { compareCursors, type DurableEvent, decodeCursor, encodeCursor, type SessionEvent } from "@loopwright/core/protocol";
import { type SimulatedStep, simulatedSession } from "@loopwright/testing";

/** A frame as a server writes it. */
export function frameOf(event: { readonly type: string }): string {
  const id = "seq" in event && "k" in event ? `id: ${encodeCursor(event as DurableEvent)}\n` : "";
  return `${id}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** A body that comes in pieces of any size, cut after so many bytes: by an error, or by an end that looks orderly. */
function cutBody(
  text: string,
  { random, cutAt = Number.POSITIVE_INFINITY }: { random: () => number; cutAt?: number },
): ReadableStream<Uint8Array> {
  const all = new TextEncoder().encode(text);
  const bytes = all.subarray(0, cutAt);
  const isError = bytes.length < all.length && random() < 0.5;
  let from = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const to = Math.min(bytes.length, from + 1 + Math.floor(random() * 200));
      if (to > from) controller.enqueue(bytes.slice(from, to));
      from = to;
      if (from < bytes.length) return;
      if (isError) controller.error(new Error("cut"));
      else controller.close();
    },
  });
}

/** A simulated session on a server that cuts every connection after some bytes, while the session continues. */
export class ScriptedSession {
  readonly steps: readonly SimulatedStep[];
  connections = 0;
  private readonly random: () => number;
  /** The step that the server has reached. */
  private place = 1;

  constructor(seed: number) {
    this.steps = simulatedSession(seed);
    this.random = seededRandom(seed);
  }

  get durable(): readonly DurableEvent[] {
    return this.steps.flatMap(({ events }) => events).filter((event): event is DurableEvent => "seq" in event);
  }

  get isAtEnd(): boolean {
    return this.place === this.steps.length - 1;
  }

  /** Answers a request for events: what was missed, the open lanes, then some steps more, cut anywhere. */
  events(url: URL): Response {
    this.connections += 1;
    const after = decodeCursor(url.searchParams.get("after"));
    const now = this.steps[this.place] as SimulatedStep;
    const frames: { readonly type: string }[] = [];
    if (url.searchParams.get("from") === "now") frames.push({ type: "session_snapshot", snapshot: now.snapshot() } as { type: string });
    else
      for (const { events } of this.steps.slice(0, this.place + 1))
        for (const event of events) if ("seq" in event && compareCursors(event, after ?? { seq: 0, k: 0 }) > 0) frames.push(event);
    frames.push(...now.lanes());
    const live: SessionEvent[] = [];
    for (let count = Math.floor(this.random() * 8); count > 0 && !this.isAtEnd; count--) {
      this.place += 1;
      live.push(...(this.steps[this.place] as SimulatedStep).events);
    }
    frames.push(...live);
    if (this.isAtEnd) frames.push({ type: "rest" });
    const text = `retry: 3\n\n${frames.map((frame) => `: ping é\n\n${frameOf(frame)}`).join("")}`;
    const size = new TextEncoder().encode(text).length;
    const cutAt = this.random() < 0.7 ? Math.floor(this.random() * size) : size;
    return new Response(cutBody(text, { random: this.random, cutAt }), { headers: { "Content-Type": "text/event-stream" } });
  }
}
