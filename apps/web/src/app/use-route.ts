import { useMemo, useSyncExternalStore } from "react";
import { hashOf, type Route, routeOf } from "./route.ts";

function subscribe(listener: () => void): () => void {
  addEventListener("hashchange", listener);
  return () => removeEventListener("hashchange", listener);
}

/** The route of the address bar, followed. */
export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  return useMemo(() => routeOf(hash), [hash]);
}

/** Goes to a route; `replace` leaves no step back. */
export function goTo(route: Route, options: { readonly replace?: boolean } = {}): void {
  const hash = hashOf(route);
  if (location.hash === hash) return;
  if (!options.replace) {
    location.hash = hash;
    return;
  }
  history.replaceState(null, "", hash);
  dispatchEvent(new HashChangeEvent("hashchange"));
}
