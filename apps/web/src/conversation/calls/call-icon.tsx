import type { ReactNode } from "react";
import { Icon, type IconName } from "../../app/icon.tsx";
import type { ShownState } from "./shown-call.ts";

const icons: { readonly [State in ShownState]?: IconName } = {
  pending: "tool",
  ok: "check",
  awaiting_client: "clock",
  awaiting_approval: "clock",
  awaiting_child: "clock",
  error: "warning",
  interrupted: "warning",
  expired: "clock",
  denied: "close",
  aborted: "stop",
};

/** The sign of how a call stands. */
export function CallIcon({ state }: { readonly state: ShownState }): ReactNode {
  const name = icons[state];
  return <span className="call-icon">{name === undefined ? <span className="spinner" /> : <Icon name={name} />}</span>;
}
