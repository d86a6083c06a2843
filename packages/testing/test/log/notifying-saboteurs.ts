import { refKey } from "@loopwright/core/ports";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { LogUnderTest } from "../../src/log/log-under-test.ts";
import { spoiledLog } from "./spoiled-log.ts";

/** As long as a command and its answer are under way. */
async function oneTurn(): Promise<void> {
  for (let step = 0; step < 5; step++) await Promise.resolve();
}

/** Defects of telling subscribers. */
export const notifyingSaboteurs: readonly Saboteur<LogUnderTest>[] = [
  {
    defect: "notifies no subscribers",
    breaks: [
      "subscribe",
      "unsubscribe",
      "subscribe-again",
      "subscribe-again-early",
      "subscribe-removed",
      "subscribe-refused",
      "subscribe-scopes",
      "subscribe-twice",
      "subscribe-written",
      "unsubscribe-inside",
    ],
    make: spoiledLog(() => ({ subscribe: () => () => {} })),
  },
  {
    defect: "notifies of a fact before it is written",
    breaks: ["subscribe-refused", "subscribe-written"],
    make: spoiledLog((real) => {
      const listeners = new Set<(lastSeq: number) => void>();
      return {
        async append(ref, request) {
          for (const listener of listeners) listener(request.expectedSeq + request.facts.length);
          for (let turn = 0; turn < 10; turn++) await Promise.resolve();
          return real.append(ref, request);
        },
        subscribe(ref, listener) {
          if (ref.session === "first" && ref.scope === "local") listeners.add(listener);
          const stop = real.subscribe?.(ref, listener);
          return () => {
            listeners.delete(listener);
            stop?.();
          };
        },
      };
    }),
  },
  {
    defect: "notifies of what it has refused",
    breaks: ["subscribe-refused"],
    make: spoiledLog((real) => {
      const listeners = new Set<(lastSeq: number) => void>();
      return {
        async append(ref, request) {
          const outcome = await real.append(ref, request);
          if (outcome.type === "conflict") for (const listener of listeners) listener(request.expectedSeq + request.facts.length);
          return outcome;
        },
        subscribe(ref, listener) {
          listeners.add(listener);
          const stop = real.subscribe?.(ref, listener);
          return () => {
            listeners.delete(listener);
            stop?.();
          };
        },
      };
    }),
  },
  {
    defect: "notifies of sessions of one id in all scopes",
    breaks: ["subscribe-scopes"],
    make: spoiledLog((real) => ({
      subscribe(ref, listener) {
        const stops = ["local", "other"].map((scope) => real.subscribe?.({ ...ref, scope }, listener));
        return () => {
          for (const stop of stops) stop?.();
        };
      },
    })),
  },
  {
    defect: "knows listeners by their function",
    breaks: ["subscribe-twice"],
    make: spoiledLog((real) => {
      const stops = new Map<(lastSeq: number) => void, (() => void) | undefined>();
      return {
        subscribe(ref, listener) {
          if (!stops.has(listener)) stops.set(listener, real.subscribe?.(ref, listener));
          return () => {
            stops.get(listener)?.();
            stops.delete(listener);
          };
        },
      };
    }),
  },
  {
    defect: "lets go only of listeners that leave between two tellings",
    breaks: ["unsubscribe-inside"],
    make: spoiledLog((real) => ({
      subscribe(ref, listener) {
        let isNotifying = false;
        const stop = real.subscribe?.(ref, (lastSeq) => {
          isNotifying = true;
          listener(lastSeq);
          isNotifying = false;
        });
        return () => {
          if (!isNotifying) stop?.();
        };
      },
    })),
  },
  {
    defect: "is deaf for ever to a session that was left and joined in one turn",
    breaks: ["subscribe-again", "subscribe-again-early"],
    make: spoiledLog((real) => {
      const listening = new Map<string, number>();
      const leaving = new Set<string>();
      return {
        subscribe(ref, listener) {
          const key = refKey(ref);
          const count = (): number => listening.get(key) ?? 0;
          const stop = leaving.has(key) ? undefined : real.subscribe?.(ref, listener);
          let isOn = true;
          listening.set(key, count() + 1);
          return () => {
            stop?.();
            if (!isOn) return;
            isOn = false;
            listening.set(key, count() - 1);
            if (count() > 0) return;
            leaving.add(key);
            void oneTurn().then(() => leaving.delete(key));
          };
        },
      };
    }),
  },
  {
    defect: "notifies no subscriber of a removal",
    breaks: ["subscribe-removed"],
    make: spoiledLog((real) => ({
      subscribe: (ref, listener) => real.subscribe?.(ref, (lastSeq) => lastSeq > 0 && listener(lastSeq)) ?? (() => {}),
    })),
  },
  {
    defect: "notifies every subscriber of every session",
    breaks: ["subscribe"],
    make: spoiledLog((real) => ({
      subscribe(ref, listener) {
        const stops = ["first", "second"].map((session) => real.subscribe?.({ ...ref, session }, listener));
        return () => {
          for (const stop of stops) stop?.();
        };
      },
    })),
  },
  {
    defect: "continues to notify those that left",
    breaks: ["unsubscribe", "unsubscribe-inside"],
    make: spoiledLog((real) => ({
      subscribe(ref, listener) {
        real.subscribe?.(ref, listener);
        return () => {};
      },
    })),
  },
];
