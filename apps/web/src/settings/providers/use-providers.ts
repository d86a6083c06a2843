import type { OwnProvider, ProviderRequests } from "@loopwright/client";
import type { AgentError } from "@loopwright/core/protocol";
import { useCallback, useEffect, useState } from "react";
import { useServices } from "../../app/services.ts";

type Offered = Awaited<ReturnType<ProviderRequests["list"]>>;

/** The models of the user, as the server has them, and what changes them here. */
export interface Providers {
  readonly offered: Offered | undefined;
  readonly error: AgentError | undefined;
  load(): void;
  /** A saved one takes its place in the list. */
  take(saved: OwnProvider): void;
  drop(instanceId: string): void;
  activate(instanceId: string, active: boolean): void;
}

export function useProviders(): Providers {
  const { client } = useServices();
  const [offered, setOffered] = useState<Offered>();
  const [error, setError] = useState<AgentError>();
  const load = useCallback((): void => {
    setError(undefined);
    client.providers.list().then(setOffered, setError);
  }, [client]);
  useEffect(load, [load]);
  const change = (next: (providers: readonly OwnProvider[]) => readonly OwnProvider[]): void =>
    setOffered((before) => before && { ...before, providers: next(before.providers) });
  const take = (saved: OwnProvider): void =>
    change((all) => {
      const others = all.map((each) => (saved.active && each.instanceId !== saved.instanceId ? { ...each, active: false } : each));
      const isKnown = others.some(({ instanceId }) => instanceId === saved.instanceId);
      return isKnown ? others.map((each) => (each.instanceId === saved.instanceId ? saved : each)) : [...others, saved];
    });
  return {
    offered,
    error,
    load,
    take,
    drop: (instanceId) => change((all) => all.filter((each) => each.instanceId !== instanceId)),
    activate: (instanceId, active) => void client.providers.change(instanceId, { active }).then(take, setError),
  };
}
