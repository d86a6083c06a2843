/* One watcher's recording of one session, by the client rule, and what was wrong about it. Knows nothing of our client package. */
import type { DurableEvent } from "@loopwright/core/protocol";

interface Lane {
  n: number;
  text: string;
  /** Nothing was missed since its beginning or its last snapshot. */
  isWhole: boolean;
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
  /** Answers of which a part was shown before they were committed. */
  partTexts = 0;
  #last: { seq: number; k: number } = { seq: 0, k: -1 };
  #answer: (Lane & { readonly id: number }) | undefined;

  /** Number of the last thing that this connection said of the open lane. */
  #heard = 0;

  /** What to come back with. */
  get cursor(): string | undefined {
    return this.durable.length === 0 ? undefined : `${this.#last.seq}.${this.#last.k}`;
  }

  /** The connection is gone: half an answer is known, and no more of it may be added but by a snapshot. */
  disconnect(): void {
    this.#heard = 0;
    if (this.#answer) this.#answer.isWhole = false;
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
      this.#answer = { id: seq, n: 0, text: "", isWhole: true };
      this.#heard = 0;
    }
    if (event.type === "attempt_discarded") this.#answer = undefined;
    if (event.type === "message_end" && event.message.role === "assistant") {
      const committed = event.message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
      const lane = this.#answer;
      this.#answer = undefined;
      if (!lane || lane.n === 0) return;
      // Between nodes deltas may be lost; what was shown is the beginning of what was said, and this event brings the rest.
      if (!committed.startsWith(lane.text)) this.flaws.push(`lane ${lane.id} said what was not committed`);
      else if (lane.isWhole && lane.text === committed) this.wholeTexts += 1;
      else this.partTexts += 1;
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
      lane.isWhole = true;
      lane.n = n;
      this.#heard = n;
      return;
    }
    if (n <= this.#heard) this.flaws.push(`${frame.type} ${n} of lane ${lane.id} came after ${this.#heard} on one connection`);
    this.#heard = n;
    // A node that is behind tells what another one has told already.
    if (n <= lane.n) return;
    if (n !== lane.n + 1) {
      lane.isWhole = false;
      this.flaws.push(`${frame.type} ${n} of lane ${lane.id} came after ${lane.n}`);
    }
    lane.n = n;
    if (frame.type === "text_delta") lane.text += String(frame["delta"]);
  }
}
