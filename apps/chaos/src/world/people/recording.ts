/* One watcher's recording of one session, by the client rule, and what was wrong about it. Knows nothing of our client package. */
import type { DurableEvent } from "@loopwright/core/protocol";

interface Lane {
  n: number;
  text: string;
  /** A snapshot took the place of what was missed. */
  isHealed: boolean;
}

interface Frame {
  readonly type: string;
  readonly [field: string]: unknown;
}

export class Recording {
  /** Durable events in the order they were taken, as they came. */
  readonly durable: DurableEvent[] = [];
  readonly flaws: string[] = [];
  /** Answers whose deltas added up to what was committed. */
  wholeTexts = 0;
  /** Answers that came in part, and whole by a snapshot before their end. */
  healedTexts = 0;
  #last: { seq: number; k: number } = { seq: 0, k: -1 };
  #answer: (Lane & { readonly id: number }) | undefined;

  /** Number of the last event of the open lane on this connection. */
  #received = 0;

  /** What to come back with. */
  get cursor(): string | undefined {
    return this.durable.length === 0 ? undefined : `${this.#last.seq}.${this.#last.k}`;
  }

  /** The connection is gone: what is known of an answer stays, and the next connection delivers the rest. */
  disconnect(): void {
    this.#received = 0;
  }

  /** One frame of server-sent events. */
  take(id: string | undefined, data: string): void {
    const frame = JSON.parse(data) as Frame;
    if (typeof frame["seq"] === "number" && typeof frame["k"] === "number") this.#takeDurable(frame as unknown as DurableEvent, id);
    else if (typeof frame["lane"] === "number") this.#takeEphemeral(frame, id);
  }

  #takeDurable(event: DurableEvent, id: string | undefined): void {
    const { seq, k } = event;
    if (id !== `${seq}.${k}`) this.flaws.push(`event ${seq}.${k} has the id ${id}`);
    if (seq < this.#last.seq || (seq === this.#last.seq && k <= this.#last.k)) {
      this.flaws.push(`${event.type} ${seq}.${k} came after ${this.#last.seq}.${this.#last.k}`);
      return;
    }
    this.#last = { seq, k };
    this.durable.push(event);
    if (event.type === "message_start" && event.role === "assistant") {
      this.#answer = { id: seq, n: 0, text: "", isHealed: false };
      this.#received = 0;
    }
    if (event.type === "attempt_discarded") this.#answer = undefined;
    if (event.type === "message_end" && event.message.role === "assistant") {
      const committed = event.message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
      const lane = this.#answer;
      this.#answer = undefined;
      if (!lane || lane.n === 0) return;
      // Between nodes deltas may be lost: what is missing of an answer comes as a snapshot right before this event.
      if (!committed.startsWith(lane.text)) this.flaws.push(`lane ${lane.id} sent what was not committed`);
      else if (lane.text !== committed)
        this.flaws.push(`P3: at the end of lane ${lane.id} its reader had ${lane.text.length} of ${committed.length} characters`);
      else if (lane.isHealed) this.healedTexts += 1;
      else this.wholeTexts += 1;
    }
  }

  #takeEphemeral(frame: Frame, id: string | undefined): void {
    if (id !== undefined) this.flaws.push(`${frame.type} has an id`);
    const lane = this.#answer;
    const n = Number(frame["n"]);
    if (frame.type.startsWith("tool_execution") || frame.type === "progress" || frame.type === "agent_delta") return;
    if (!lane || lane.id !== frame["lane"])
      return void this.flaws.push(`${frame.type} of lane ${String(frame["lane"])} came while it was not open`);
    if (frame.type === "message_snapshot") {
      const content = frame["content"] as readonly { readonly type: string; readonly text?: string }[];
      lane.text = content.map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("");
      lane.isHealed = true;
      lane.n = n;
      this.#received = n;
      return;
    }
    if (n <= this.#received) this.flaws.push(`${frame.type} ${n} of lane ${lane.id} came after ${this.#received} on one connection`);
    this.#received = n;
    // A node that is behind sends what another one has sent already.
    if (n <= lane.n) return;
    if (n !== lane.n + 1) this.flaws.push(`${frame.type} ${n} of lane ${lane.id} came after ${lane.n}`);
    lane.n = n;
    if (frame.type === "text_delta") lane.text += String(frame["delta"]);
  }
}
