import { type MessageId, pathOf } from "@loopwright/core/protocol";
import { CallMap } from "./call-map.ts";
import { pushInCallOrder } from "./path.ts";
import type { SessionView, ViewCall, ViewMessage, ViewRun, ViewVerdict } from "./session-view.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A view in the making. What changes is copied once per draft, the rest is shared with the view before. */
export class ViewDraft {
  readonly view: Mutable<SessionView>;
  private readonly own = new Set<object>();

  constructor(view: SessionView) {
    this.view = { ...view };
  }

  /** Adds a message; the path grows with it where it continues the head. */
  addMessage(added: ViewMessage): void {
    const { view } = this;
    const { id, parent } = added;
    const messages = this.mine(view.messages);
    messages.set(id, added);
    view.messages = messages;
    const children = this.mine(view.children);
    children.set(parent, [...(children.get(parent) ?? []), id]);
    view.children = children;
    if (parent === view.head) {
      const path = this.own.has(view.path) ? (view.path as ViewMessage[]) : [...view.path];
      this.own.add(path);
      pushInCallOrder(path, added);
      view.path = path;
      view.head = id;
    } else this.moveHead(id);
  }

  moveHead(to: MessageId | null): void {
    const { view } = this;
    if (to === view.head) return;
    view.head = to;
    view.path = pathOf({ messages: view.messages, head: to });
    this.own.add(view.path);
  }

  changeRun(change: Partial<ViewRun>): void {
    if (this.view.run) this.view.run = { ...this.view.run, ...change };
  }

  /** Calls of a new turn take the place of the last one's, which stay among the earlier ones. */
  beginTurn(calls: readonly ViewCall[]): void {
    const { earlier, turn } = layersOf(this.view.calls);
    if (calls.length === 0 && turn.size === 0) return;
    const fresh = new Map(calls.map((call) => [call.callKey, call]));
    this.own.add(fresh);
    this.view.calls = new CallMap(turn.size === 0 ? earlier : new Map([...earlier, ...turn]), fresh);
  }

  /** Changes one call of the open turn; nothing where there is no such call. */
  changeCall(callKey: string, change: (call: ViewCall) => ViewCall): void {
    const { earlier, turn } = layersOf(this.view.calls);
    const call = turn.get(callKey);
    const next = call && change(call);
    if (!next || next === call) return;
    const mine = this.mine(turn);
    mine.set(callKey, next);
    this.view.calls = new CallMap(earlier, mine);
  }

  /** A verdict on a call of the open turn is kept with it, any other one until its message comes. */
  addVerdict(verdict: ViewVerdict): void {
    const { callKey } = verdict;
    const { turn } = layersOf(this.view.calls);
    if (callKey !== undefined && turn.has(callKey))
      this.changeCall(callKey, (call) => ({ ...call, verdicts: [...(call.verdicts ?? []), verdict] }));
    else this.view.verdicts = [...(this.view.verdicts ?? []), verdict];
  }

  /** Those of a run that wait for a message; they wait no longer. */
  takeVerdicts(runId: string | undefined): readonly ViewVerdict[] {
    const { verdicts = [] } = this.view;
    const taken = verdicts.filter((verdict) => verdict.runId === runId);
    if (taken.length === 0) return taken;
    const left = verdicts.filter((verdict) => verdict.runId !== runId);
    if (left.length > 0) this.view.verdicts = left;
    else delete this.view.verdicts;
    return taken;
  }

  /** No further message of the run comes: what still waits belongs to its last one. */
  giveVerdictsToHead(runId: string): void {
    const { view } = this;
    const tip = view.path.at(-1);
    const verdicts = this.takeVerdicts(runId);
    if (verdicts.length === 0 || tip?.runId !== runId) return;
    const changed: ViewMessage = { ...tip, verdicts: [...(tip.verdicts ?? []), ...verdicts] };
    const messages = this.mine(view.messages);
    messages.set(tip.id, changed);
    view.messages = messages;
    view.path = view.path.with(-1, changed);
    this.own.add(view.path);
  }

  private mine<K, V>(map: ReadonlyMap<K, V>): Map<K, V> {
    if (this.own.has(map)) return map as Map<K, V>;
    const copy = new Map(map);
    this.own.add(copy);
    return copy;
  }
}

/** Calls of the open turn, apart from the earlier ones. */
export function layersOf(calls: SessionView["calls"]): Pick<CallMap, "earlier" | "turn"> {
  return calls instanceof CallMap ? calls : { earlier: calls, turn: new Map() };
}
