import type { ViewCall } from "./session-view.ts";

type Calls = ReadonlyMap<string, ViewCall>;

/** Calls by key in two layers, so that a word of a running call copies only the calls of its turn. */
export class CallMap implements ReadonlyMap<string, ViewCall> {
  readonly earlier: Calls;
  /** Of the turn that is open. */
  readonly turn: Calls;

  constructor(earlier: Calls, turn: Calls) {
    this.earlier = earlier;
    this.turn = turn;
  }

  get size(): number {
    return this.earlier.size + this.turn.size;
  }

  get(callKey: string): ViewCall | undefined {
    return this.turn.get(callKey) ?? this.earlier.get(callKey);
  }

  has(callKey: string): boolean {
    return this.get(callKey) !== undefined;
  }

  forEach(notify: (call: ViewCall, callKey: string, map: ReadonlyMap<string, ViewCall>) => void): void {
    for (const [callKey, call] of this) notify(call, callKey, this);
  }

  *entries(): Generator<[string, ViewCall], undefined> {
    yield* this.earlier;
    yield* this.turn;
    return undefined;
  }

  *keys(): Generator<string, undefined> {
    for (const [callKey] of this) yield callKey;
    return undefined;
  }

  *values(): Generator<ViewCall, undefined> {
    for (const [, call] of this) yield call;
    return undefined;
  }

  [Symbol.iterator](): Generator<[string, ViewCall], undefined> {
    return this.entries();
  }
}
