import { useEffect } from "react";
import { useServices } from "./services.ts";

/**
 * Keeps the list of conversations in step with the server, as long as somebody sees the page: browsers allow few connections to
 * one server, and a page in the background needs none for its list.
 */
export function useListUpdates(): void {
  const { client, list } = useServices();
  useEffect(() => {
    let watching: AbortController | undefined;
    const watch = async (signal: AbortSignal): Promise<void> => {
      try {
        for await (const _ of client.notifications({ signal })) list.refresh();
      } catch {
        // The open session tells of a lost connection; the list is read again when the page is next seen.
      }
    };
    const onVisibility = (): void => {
      watching?.abort();
      watching = undefined;
      if (document.visibilityState === "hidden") return;
      watching = new AbortController();
      list.refresh();
      void watch(watching.signal);
    };
    onVisibility();
    document.addEventListener("visibilitychange", onVisibility);
    return () => {
      document.removeEventListener("visibilitychange", onVisibility);
      watching?.abort();
    };
  }, [client, list]);
}
