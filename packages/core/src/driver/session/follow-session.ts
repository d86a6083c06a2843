import { isAtRest } from "../../loop/state.ts";
import type { SessionFollower } from "../../protocol/execute.ts";
import { guardListener } from "../setup/guard-event-listener.ts";
import type { Deps } from "../setup/session-deps.ts";
import type { SessionDriver } from "./session-driver.ts";

/** Notifies the follower until it leaves or the session is lost. An open run is continued while there is a follower. */
export function followSession(
  { deps, driver }: { readonly deps: Deps; readonly driver: SessionDriver },
  follower: SessionFollower,
): () => void {
  const guard = guardListener(deps);
  const stop = (): void => {
    for (const stopOne of stops) stopOne();
  };
  const stops = [
    driver.hub.listen(guard((news, runId) => follower.events(news, runId))),
    driver.watch({
      settled: guard((state) => void (isAtRest(state) && follower.rested?.())),
      lost: guard((error) => {
        stop();
        follower.lost?.(error);
      }),
    }),
  ];
  driver.wake();
  return stop;
}
