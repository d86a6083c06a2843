import type { ReactNode } from "react";
import { Icon, type IconName } from "../../app/icon.tsx";
import type { CallState } from "./shown-call.ts";

const icons: { readonly [State in CallState]?: IconName } = {
  asked: "tool",
  ok: "check",
  waiting: "clock",
  approval: "clock",
  error: "warning",
  interrupted: "warning",
  expired: "clock",
  denied: "close",
  aborted: "stop",
};

/** The sign of how a call stands. */
export function CallIcon({ state }: { readonly state: CallState }): ReactNode {
  const name = icons[state];
  return <span className="call-icon">{name === undefined ? <span className="spinner" /> : <Icon name={name} />}</span>;
}
