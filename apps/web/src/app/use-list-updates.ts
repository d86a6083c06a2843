import type { ConnectionState } from "@loopwright/client";
import { useEffect } from "react";
import { useServices } from "./services.ts";

/**
 * Keeps the list of conversations in step with the server, as long as the page is visible: browsers allow few connections to
 * one server, and a page in the background needs none for its list.
 */
export function useListUpdates(): void {
  const { client, list } = useServices();
  useEffect(() => {
    let watching: AbortController | undefined;
    const watch = async (signal: AbortSignal): Promise<void> => {
      const refresh = (): void => {
        if (!signal.aborted) list.refresh();
      };
      try {
        // Hints may be missed while there is no connection: each new one begins with a look at the list.
        const onState = ({ state }: ConnectionState): void => {
          if (state === "open") refresh();
        };
        for await (const _ of client.notifications({ signal, onState })) refresh();
      } catch {
        // The server refuses for good: the list shows the error.
        refresh();
      }
    };
    const onVisibility = (): void => {
      watching?.abort();
      watching = undefined;
      if (document.visibilityState === "hidden") return;
      watching = new AbortController();
      void watch(watching.signal);
    };
    list.refresh();
    onVisibility();
    document.addEventListener("visibilitychange", onVisibility);
    return () => {
      document.removeEventListener("visibilitychange", onVisibility);
      watching?.abort();
      list.leave();
    };
  }, [client, list]);
}
