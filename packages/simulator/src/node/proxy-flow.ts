import type { Socket } from "node:net";
import type { FlowToxics } from "./toxics.ts";

/** What one direction of one connection is made of. */
export interface FlowOptions {
  readonly from: Socket;
  readonly to: Socket;
  /** Asked anew for every piece: toxics change while connections are open. */
  readonly toxics: () => FlowToxics;
  readonly random: () => number;
  /** True: the piece is lost and the connection ends. */
  readonly isSwallowed: () => boolean;
  readonly cut: () => void;
}

/** Most bytes under way in one direction; then the sender is no longer read. */
const underWayMax = 1024 * 1024;

/** Hands the bytes of one direction on, in order, with whatever is wrong with it. */
export class ProxyFlow {
  readonly #options: FlowOptions;
  readonly #pieces: { readonly bytes: Buffer; readonly dueAt: number }[] = [];
  #underWay = 0;
  #passed = 0;
  #isRunning = false;
  #hasEnded = false;
  #isOver = false;
  /** When the line is free again after the piece before, where its width is limited. */
  #freeAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FlowOptions) {
    this.#options = options;
    const { from, to } = options;
    from.on("data", (bytes: Buffer) => this.#take(bytes));
    from.on("end", () => {
      this.#hasEnded = true;
      this.wake();
    });
    to.on("drain", () => this.wake());
  }

  /** Looks again: what held the bytes back may be over. */
  wake(): void {
    clearTimeout(this.#timer);
    if (!this.#isRunning && !this.#isOver) this.#run();
  }

  /** Nothing is handed on any more. */
  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #take(bytes: Buffer): void {
    if (this.#isOver) return;
    const { latencyMs = 0, jitterMs = 0, garbleChance = 0, pieceBytes = Number.POSITIVE_INFINITY } = this.#options.toxics();
    const { random } = this.#options;
    if (this.#options.isSwallowed()) {
      this.#options.cut();
      return;
    }
    if (garbleChance > 0 && random() < garbleChance) {
      const at = Math.floor(random() * bytes.length);
      bytes[at] = (bytes[at] ?? 0) ^ (1 + Math.floor(random() * 255));
    }
    const dueAt = performance.now() + latencyMs + (jitterMs > 0 ? random() * jitterMs : 0);
    for (let from = 0; from < bytes.length; from += pieceBytes)
      this.#pieces.push({ bytes: bytes.subarray(from, from + pieceBytes), dueAt });
    this.#underWay += bytes.length;
    if (this.#underWay > underWayMax) this.#options.from.pause();
    this.wake();
  }

  /** Hands on what is due, until something must be waited for. */
  #run(): void {
    this.#isRunning = true;
    for (let piece = this.#pieces[0]; piece && !this.#isOver; piece = this.#pieces[0]) {
      const toxics = this.#options.toxics();
      if (toxics.isHeld || this.#options.to.writableNeedDrain) break;
      const now = performance.now();
      const waitMs = Math.max(piece.dueAt, this.#freeAt) - now;
      if (waitMs > 0) {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.wake(), waitMs);
        break;
      }
      this.#pieces.shift();
      if (toxics.bytesPerSecond !== undefined) this.#freeAt = now + (piece.bytes.length / toxics.bytesPerSecond) * 1_000;
      this.#pass(piece.bytes, toxics);
    }
    this.#isRunning = false;
    const isHeld = this.#options.toxics().isHeld ?? false;
    if (this.#hasEnded && this.#pieces.length === 0 && !isHeld && !this.#isOver) this.#options.to.end();
  }

  #pass(bytes: Buffer, { cutAfterBytes = Number.POSITIVE_INFINITY }: FlowToxics): void {
    const { to, from, cut } = this.#options;
    const rest = cutAfterBytes - this.#passed;
    if (rest > 0) to.write(rest < bytes.length ? bytes.subarray(0, rest) : bytes);
    this.#passed += bytes.length;
    this.#underWay -= bytes.length;
    if (this.#underWay <= underWayMax && from.isPaused()) from.resume();
    if (this.#passed >= cutAfterBytes) cut();
  }
}
