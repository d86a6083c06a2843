import type { Clock } from "@loopwright/core/protocol";
import { workingEveryMs } from "./chat-limits.ts";

/** Shows in a chat that an answer is being made. */
export interface WorkingSign {
  begin(): void;
  end(): void;
}

interface SignParts {
  readonly clock: Pick<Clock, "after">;
  /** Must not reject. */
  readonly show: () => Promise<void>;
  /** Called once if the work takes so long. Must not throw. */
  readonly interim?: { readonly afterMs: number; readonly send: () => void } | undefined;
}

/** A sign that is shown again every few seconds while work is done. */
export function workingSign({ clock, show, interim }: SignParts): WorkingSign {
  let cancels: (() => void)[] | undefined;
  const repeat = (): void => {
    void show().then(() => {
      if (cancels) cancels[0] = clock.after(workingEveryMs, repeat);
    });
  };
  return {
    begin() {
      if (cancels) return;
      cancels = [() => {}];
      if (interim) cancels[1] = clock.after(interim.afterMs, interim.send);
      repeat();
    },
    end() {
      for (const cancel of cancels ?? []) cancel();
      cancels = undefined;
    },
  };
}
